// A driver with two GPUs that are none, for tests: the functions that Pumice calls, with malloc for memory and one known kernel. It
// is strict where the real one is: a context must be current on the calling thread, handles must be its own.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500 };
enum { FILL, COUNT, GO_ON, CLEAR, KERNELS };
static char contexts[2], streams[2], modules[2], kernels[2][KERNELS];
static __thread char *current;
static int live;
// Which of the two is current on this thread.
static int which(void) { return current == &contexts[1]; }
static int is_device(int device) { return device == 7 || device == 8; }
#define REQUIRE(condition, code) do { if (!(condition)) return code; } while (0)

int fake_live(void) { return live; }
int cuGetErrorName(int code, const char **name) {
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == INVALID_IMAGE ? "CUDA_ERROR_INVALID_IMAGE" : 0;
    return *name ? 0 : 1;
}
int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int number) { *device = 7 + number; return number < 2 ? 0 : 101; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Fake GPU", length); return is_device(device) ? 0 : 101; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 1 ? 1024 : attribute == 8 ? 49152 : attribute == 16 ? 4 : attribute == 75 ? 9
        : attribute == 97 ? 232448 : 0;
    return is_device(device) ? 0 : 101;
}
int cuDevicePrimaryCtxRetain(void **result, int device) {
    REQUIRE(is_device(device), 101);
    *result = &contexts[device - 7];
    live++;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { live--; return 0; }
int cuCtxSetCurrent(void *given) { current = given; return given == &contexts[0] || given == &contexts[1] ? 0 : INVALID_CONTEXT; }
int cuStreamCreate(void **result, unsigned flags) { REQUIRE(current, INVALID_CONTEXT); live++; *result = &streams[which()]; return 0; }
int cuStreamSynchronize(void *given) { REQUIRE(current, INVALID_CONTEXT); return given == &streams[which()] ? 0 : INVALID_HANDLE; }
int cuStreamDestroy_v2(void *given) { live--; return 0; }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    REQUIRE(current, INVALID_CONTEXT);
    REQUIRE(bytes, 1);
    REQUIRE(bytes < (1ull << 40), OUT_OF_MEMORY);
    live++;
    *address = (uint64_t)malloc(bytes);
    return 0;
}
int cuMemFree_v2(uint64_t address) { REQUIRE(current, INVALID_CONTEXT); live--; free((void *)address); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *given) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    memcpy((void *)to, from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *given) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    memcpy(to, (void *)from, bytes);
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *given) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    REQUIRE(to != from && bytes, 1);
    memcpy((void *)to, (void *)from, bytes);
    return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *given) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    memset((void *)to, byte, bytes);
    return 0;
}
int cuModuleLoadData(void **result, const void *image) {
    REQUIRE(current, INVALID_CONTEXT);
    // Ours, or what the real compiler makes.
    REQUIRE(!memcmp(image, "image", 6) || !memcmp(image, "\x7f" "ELF", 4), INVALID_IMAGE);
    live++;
    *result = &modules[which()];
    return 0;
}
int cuModuleGetFunction(void **result, void *given, const char *name) {
    static const char *names[KERNELS] = {"fill", "count", "pumice_go_on", "pumice_clear"};
    REQUIRE(given == &modules[which()], NOT_FOUND);
    for (int i = 0; i < KERNELS; i++)
        if (!strcmp(name, names[i])) return *result = &kernels[which()][i], 0;
    return NOT_FOUND;
}
static int most_shared;
int cuFuncSetAttribute(void *f, int attribute, int value) {
    REQUIRE(current, INVALID_CONTEXT);
    REQUIRE(f == &kernels[which()][FILL] && attribute == 8 && value <= 232448, 1);
    most_shared = value;
    return 0;
}
int cuModuleUnload(void *given) { live--; return 0; }
// fill(double *z, uchar on, float a, int64 n): z[i] = a + grid, block and shared memory for i < n, if on
static void fill(unsigned blocks, unsigned threads, unsigned shared, void **arguments) {
    double *z = *(double **)arguments[0];
    if (*(uint8_t *)arguments[1] != 1) return;
    for (int64_t i = 0; i < *(int64_t *)arguments[3]; i++)
        z[i] = *(float *)arguments[2] + 1e3 * blocks + 1e6 * threads + 1e15 * shared;
}
// count(const int64 *from, int64 *to, uchar *on): one less, and whether that is more than 0
static void count(void **arguments) {
    int64_t *to = *(int64_t **)arguments[1];
    *to = **(int64_t **)arguments[0] - 1;
    **(uint8_t **)arguments[2] = *to > 0;
}
// The kernel of graph.rs; a handle is the address of its value.
static void go_on(void **arguments) {
    int64_t *one = *(int64_t **)arguments[4], *other = *(int64_t **)arguments[5];
    int goes_on = **(uint8_t **)arguments[3] && (!one || !*one) && (!other || !*other);
    **(unsigned **)arguments[0] = goes_on;
    if (*(uint64_t *)arguments[2] && !goes_on) **(unsigned **)arguments[1] = 0;
}
// The other kernel of graph.rs.
static int cleared;
int fake_cleared(void) { return cleared; }
static void clear(void **arguments) {
    for (int i = 0; i < 6; i += 2)
        if (*(void **)arguments[i]) cleared++, memset(*(void **)arguments[i], 0, *(uint64_t *)arguments[i + 1]);
}
static void run(void *f, unsigned blocks, unsigned threads, unsigned shared, void **arguments) {
    if (f == &kernels[which()][FILL]) fill(blocks, threads, shared, arguments);
    if (f == &kernels[which()][COUNT]) count(arguments);
    if (f == &kernels[which()][GO_ON]) go_on(arguments);
    if (f == &kernels[which()][CLEAR]) clear(arguments);
}
static int is_kernel(void *f) { return (char *)f >= kernels[which()] && (char *)f < kernels[which()] + KERNELS; }
int cuFuncGetAttribute(int *value, int attribute, void *f) { REQUIRE(current && is_kernel(f), INVALID_CONTEXT); *value = 16; return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *given, void **arguments, void **extra) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    REQUIRE(is_kernel(f) && gx && gy * gz * by * bz == 1 && shared <= most_shared && !extra, 1);
    run(f, gx, bx, shared, arguments);
    return 0;
}
int cuEventCreate(void **result, unsigned flags) { REQUIRE(current, INVALID_CONTEXT); live++; *result = malloc(1); return 0; }
int cuEventRecord(void *event, void *given) { return given == &streams[which()] ? 0 : INVALID_HANDLE; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = a != b ? 1.5f : 0; return 0; }
int cuEventDestroy_v2(void *event) { live--; free(event); return 0; }
int cuStreamWaitEvent(void *given, void *event, unsigned flags) { return given == &streams[which()] ? 0 : INVALID_HANDLE; }
int cuMemHostAlloc(void **result, size_t bytes, unsigned flags) { REQUIRE(current, INVALID_CONTEXT); live++; *result = malloc(bytes); return 0; }
int cuMemFreeHost(void *address) { live--; free(address); return 0; }
static void *registered;
int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) { REQUIRE(current && !registered, INVALID_CONTEXT); live++; registered = address; return 0; }
int cuMemHostUnregister(void *address) { REQUIRE(current && registered == address, INVALID_CONTEXT); live--; registered = 0; return 0; }

// Graphs. A node is done after those that it names, and of all that could be done, the last one is: whoever forgets to name one is found
// out. The parameters are those of the driver's header.
typedef struct Graph Graph;
typedef struct Node {
    int kind, done, before_count;
    struct Node *before[64], *next;
    struct { void *f; unsigned grid[3], block[3], shared; void **arguments, **extra; void *kernel, *context; } launch;
    struct { uint64_t to; size_t pitch; unsigned value, element; size_t width, height; void *context; } clear;
    struct { size_t origin[4]; int kind; void *host; uint64_t address; void *array, *reserved; size_t pitch, height; } from, to;
    size_t extents[3];
    struct { unsigned *value; int kind; unsigned count; Graph **graphs; void *context; } decide;
    uint64_t values[6];
    void *arguments[6];
    Graph *graphs[2];
} Node;
struct Graph { Node *last; unsigned *values[4]; int count; };
static int started;
int fake_started(void) { return started; }
static Graph *new_graph(void) { live++; return calloc(1, sizeof(Graph)); }
int cuGraphCreate(void **result, unsigned flags) { REQUIRE(current, INVALID_CONTEXT); *result = new_graph(); return 0; }
int cuGraphConditionalHandleCreate(uint64_t *result, void *given, void *context, unsigned value, unsigned flags) {
    Graph *graph = given;
    REQUIRE(context == current && graph->count < 4, 1);
    *result = (uint64_t)(graph->values[graph->count++] = calloc(1, 4));
    return 0;
}
/* A kernel may be started before one that it needs has ended; nothing else may. */
static int is_edge(const unsigned char *edge, int from, int to) {
    int early = edge[0] == 1 && edge[2] == 1;
    for (int i = early ? 3 : 0; i < 8; i++) if (edge[i]) return 0;
    return edge[1] == 0 && (!early || (from == 0 && to == 0));
}
int cuGraphAddNode_v2(void **result, void *given, void **before, const unsigned char *edges, size_t count, char *parameters) {
    Graph *graph = given;
    REQUIRE(current && count <= 64 && *(int64_t *)(parameters + 248) == 0, 1);
    Node *node = calloc(1, sizeof(Node));
    node->kind = *(int *)parameters;
    for (size_t i = 0; i < count; i++) {
        Node *other = graph->last;
        while (other && other != before[i]) other = other->next;
        REQUIRE(other, INVALID_HANDLE);
        REQUIRE(is_edge(edges + 8 * i, other->kind, node->kind), 1);
        node->before[node->before_count++] = other;
    }
    parameters += 16;
    switch (node->kind) {
    case 0:
        memcpy(&node->launch, parameters, sizeof node->launch);
        REQUIRE(is_kernel(node->launch.f) && node->launch.grid[0] && node->launch.block[0], 1);
        int six = node->launch.f == &kernels[which()][GO_ON] || node->launch.f == &kernels[which()][CLEAR];
        int arguments = six ? 6 : node->launch.f == &kernels[which()][COUNT] ? 3 : 4;
        for (int i = 0; i < arguments; i++) {
            memcpy(&node->values[i], node->launch.arguments[i], 8);
            node->arguments[i] = &node->values[i];
        }
        break;
    case 1:
        REQUIRE(*(void **)(parameters + 8) == current, INVALID_CONTEXT);
        memcpy(&node->from, parameters + 16, 88);
        memcpy(&node->to, parameters + 104, 88);
        memcpy(&node->extents, parameters + 192, 24);
        REQUIRE(node->from.kind == 2 && node->to.kind == 2 && node->extents[1] * node->extents[2] == 1, 1);
        break;
    case 2:
        memcpy(&node->clear, parameters, sizeof node->clear);
        REQUIRE(node->clear.context == current && node->clear.element == 1 && node->clear.height == 1, 1);
        break;
    case 13:
        memcpy(&node->decide, parameters, sizeof node->decide);
        REQUIRE(node->decide.context == current && node->decide.count == (node->decide.kind ? 1 : 2), 1);
        for (unsigned i = 0; i < node->decide.count; i++) node->graphs[i] = new_graph();
        *(Graph ***)(parameters + 16) = node->graphs;
        break;
    default:
        return 1;
    }
    node->next = graph->last;
    graph->last = node;
    *result = node;
    return 0;
}
static int is_ready(Node *node) {
    for (int i = 0; i < node->before_count; i++) if (!node->before[i]->done) return 0;
    return !node->done;
}
static void start(Graph *graph) {
    for (Node *node = graph->last; node; node = node->next) node->done = 0;
    for (Node *node = graph->last; node;) {
        if (!is_ready(node)) { node = node->next; continue; }
        node->done = 1;
        if (node->kind == 0) run(node->launch.f, node->launch.grid[0], node->launch.block[0], node->launch.shared, node->arguments);
        if (node->kind == 1) memcpy((void *)node->to.address, (void *)node->from.address, node->extents[0]);
        if (node->kind == 2) memset((void *)node->clear.to, node->clear.value, node->clear.width);
        if (node->kind == 13 && node->decide.kind == 0) start(node->graphs[*node->decide.value ? 0 : 1]);
        if (node->kind == 13 && node->decide.kind == 1) while (*node->decide.value) start(node->graphs[0]);
        node = graph->last;
    }
}
int cuGraphInstantiateWithFlags(void **result, void *graph, uint64_t flags) { live++; *result = graph; return 0; }
int cuGraphLaunch(void *executable, void *given) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    started++;
    start(executable);
    return 0;
}
int cuGraphExecDestroy(void *executable) { live--; return 0; }
int cuGraphDestroy(void *given) {
    Graph *graph = given;
    for (int i = 0; i < graph->count; i++) free(graph->values[i]);
    for (Node *node = graph->last, *next; node; node = next) {
        next = node->next;
        for (int i = 0; i < 2; i++) if (node->graphs[i]) cuGraphDestroy(node->graphs[i]);
        free(node);
    }
    live--;
    free(graph);
    return 0;
}
