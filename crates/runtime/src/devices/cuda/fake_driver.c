// A driver with two GPUs that are none, for tests: the functions that Pumice calls, with malloc for memory and one known kernel. It
// is strict where the real one is: a context must be current on the calling thread, handles must be its own.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500 };
static char contexts[2], streams[2], modules[2], kernels[2];
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
    REQUIRE(!memcmp(image, "image", 6), INVALID_IMAGE);
    live++;
    *result = &modules[which()];
    return 0;
}
int cuModuleGetFunction(void **result, void *given, const char *name) {
    REQUIRE(given == &modules[which()] && !strcmp(name, "fill"), NOT_FOUND);
    *result = &kernels[which()];
    return 0;
}
static int most_shared;
int cuFuncSetAttribute(void *f, int attribute, int value) {
    REQUIRE(current, INVALID_CONTEXT);
    REQUIRE(f == &kernels[which()] && attribute == 8 && value <= 232448, 1);
    most_shared = value;
    return 0;
}
int cuModuleUnload(void *given) { live--; return 0; }
// fill(double *z, uchar on, float a, int64 n): z[i] = a + grid, block and shared memory for i < n, if on
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *given, void **arguments, void **extra) {
    REQUIRE(current && given == &streams[which()], INVALID_CONTEXT);
    REQUIRE(f == &kernels[which()] && gx && gy * gz * by * bz == 1 && shared <= most_shared && !extra, 1);
    double *z = *(double **)arguments[0];
    if (*(uint8_t *)arguments[1] != 1) return 0;
    for (int64_t i = 0; i < *(int64_t *)arguments[3]; i++) z[i] = *(float *)arguments[2] + 1e3 * gx + 1e6 * bx + 1e15 * shared;
    return 0;
}
int cuEventCreate(void **result, unsigned flags) { REQUIRE(current, INVALID_CONTEXT); live++; *result = malloc(1); return 0; }
int cuEventRecord(void *event, void *given) { return given == &streams[which()] ? 0 : INVALID_HANDLE; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = a != b ? 1.5f : 0; return 0; }
int cuEventDestroy_v2(void *event) { live--; free(event); return 0; }
