// The three programs of FCL's figure 2 as OpenCL kernels in the style of NVIDIA's SDK, and a copy as the ceiling.
//
// Build:  cc -O2 sdk.c -l:libOpenCL.so.1 -lm -o sdk
// Run:    ./sdk [part of a workload's name]
//
// Prints rows as cpu.c does, of the first GPU, or else of the first device that OpenCL shows. Times are those between the
// events of a kernel.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 101, BLOCK = 256, TILE = 16, REDUCING_BLOCKS = 1024 };

static const char *SOURCE =
    "kernel void copy(global const int4 *from, global int4 *to) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    to[i] = from[i];\n"
    "}\n"
    "kernel void reverse(global const int *from, global int *to, long n) {\n"
    "    const long i = get_global_id(0);\n"
    "    to[n - 1 - i] = from[i];\n"
    "}\n"
    // A column of padding, so that the threads that read down a column find their elements in different banks.
    "kernel void transpose(global const int *from, global int *to, int width, int height) {\n"
    "    local int tile[16][17];\n"
    "    const int x = get_local_id(0), y = get_local_id(1), left = get_group_id(0) * 16, top = get_group_id(1) * 16;\n"
    "    tile[y][x] = from[(size_t)(top + y) * width + left + x];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    to[(size_t)(left + y) * height + top + x] = tile[x][y];\n"
    "}\n"
    // Each thread adds two elements at a time as it goes through the array, then the block adds in halves.
    "kernel void reduce(global const int *from, global int *to, long n) {\n"
    "    local int sums[256];\n"
    "    const uint thread = get_local_id(0);\n"
    "    const long stride = (long)get_num_groups(0) * 512;\n"
    "    int sum = 0;\n"
    "    for (long i = (long)get_group_id(0) * 512 + thread; i < n; i += stride) {\n"
    "        sum += from[i];\n"
    "        if (i + 256 < n) sum += from[i + 256];\n"
    "    }\n"
    "    sums[thread] = sum;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint others = 128; others > 0; others /= 2) {\n"
    "        if (thread < others) sums[thread] = sum = sum + sums[thread + others];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (thread == 0) to[get_group_id(0)] = sum;\n"
    "}\n";

static void require(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "sdk: %s gives %d\n", what, status);
        exit(1);
    }
}

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_device_id device;

static void open_device(void) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    require(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
    for (int type = 0; type < 2 && device == NULL; type++) {
        for (cl_uint i = 0; i < count && i < 16 && device == NULL; i++) {
            if (clGetDeviceIDs(platforms[i], types[type], 1, &device, NULL) != CL_SUCCESS) device = NULL;
        }
    }
    if (device == NULL) {
        fprintf(stderr, "sdk: OpenCL shows no device\n");
        exit(1);
    }
    cl_int status;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    require(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    require(status, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &status);
    require(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, "", NULL, NULL);
    char log[4096] = "";
    if (status != CL_SUCCESS) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fputs(log, stderr);
    require(status, "clBuildProgram");
}

static cl_kernel kernel(const char *name) {
    cl_int status;
    cl_kernel made = clCreateKernel(program, name, &status);
    require(status, name);
    return made;
}

static cl_mem memory(size_t bytes) {
    cl_int status;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    require(status, "clCreateBuffer");
    return made;
}

static double elapsed_ms(cl_event first, cl_event last) {
    cl_ulong start, end;
    require(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "an event");
    require(clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "an event");
    return (double)(end - start) * 1e-6;
}

// One or two launches that belong together.
typedef struct {
    const char *workload, *implementation;
    int launches;
    cl_kernel kernels[2];
    cl_uint dimensions;
    size_t threads[2][2], block[2];
    double fewest_bytes;
} Work;

static double time_once_ms(const Work *work) {
    cl_event events[2];
    for (int i = 0; i < work->launches; i++) {
        require(clEnqueueNDRangeKernel(queue, work->kernels[i], work->dimensions, NULL, work->threads[i], work->block,
                                       0, NULL, &events[i]),
                work->workload);
    }
    require(clFinish(queue), "clFinish");
    const double time = elapsed_ms(events[0], events[work->launches - 1]);
    for (int i = 0; i < work->launches; i++) clReleaseEvent(events[i]);
    return time;
}

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void expect(const char *workload, long index, int got, int expected) {
    if (got != expected) {
        fprintf(stderr, "sdk: %s: element %ld is %d, expected %d\n", workload, index, got, expected);
        exit(1);
    }
}

static void argument(cl_kernel kernel, cl_uint number, size_t bytes, const void *value) {
    require(clSetKernelArg(kernel, number, bytes, value), "clSetKernelArg");
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : "";
    open_device();
    const int side = 4096;
    const cl_long n = (cl_long)side * side, partials = REDUCING_BLOCKS;
    cl_mem from = memory(4 * n), to = memory(4 * n), parts = memory(4 * REDUCING_BLOCKS);
    int *host = malloc(4 * n), *found = malloc(4 * n), sum = 0;
    if (host == NULL || found == NULL) return 1;
    for (cl_long i = 0; i < n; i++) {
        host[i] = (int)(i % 1000003 * 7);
        sum = (int)((unsigned)sum + (unsigned)host[i]);
    }
    require(clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, 4 * n, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
    const char *hand = "OpenCL, by hand";
    Work all[] = {
        {"FCL reverse i32", "OpenCL, copy", 1, {kernel("copy")}, 1, {{n / 4}}, {BLOCK}, 8.0 * n},
        {"FCL reverse i32", hand, 1, {kernel("reverse")}, 1, {{n}}, {BLOCK}, 8.0 * n},
        {"FCL transpose i32", "OpenCL, copy", 1, {kernel("copy")}, 1, {{n / 4}}, {BLOCK}, 8.0 * n},
        {"FCL transpose i32", hand, 1, {kernel("transpose")}, 2, {{side, side}}, {TILE, TILE}, 8.0 * n},
        {"FCL reduce i32", hand, 2, {kernel("reduce"), kernel("reduce")}, 1,
         {{(size_t)REDUCING_BLOCKS * BLOCK}, {BLOCK}}, {BLOCK}, 4.0 * n},
    };
    bool is_first = true;
    printf("[");
    for (size_t number = 0; number < sizeof all / sizeof all[0]; number++) {
        Work *work = &all[number];
        if (strstr(work->workload, wanted) == NULL) continue;
        const bool reduces = work->launches == 2, copies = work->implementation != hand;
        argument(work->kernels[0], 0, sizeof from, &from);
        argument(work->kernels[0], 1, sizeof to, reduces ? &parts : &to);
        if (reduces) {
            argument(work->kernels[0], 2, sizeof n, &n);
            argument(work->kernels[1], 0, sizeof parts, &parts);
            argument(work->kernels[1], 1, sizeof to, &to);
            argument(work->kernels[1], 2, sizeof partials, &partials);
        } else if (work->dimensions == 2) {
            argument(work->kernels[0], 2, sizeof side, &side);
            argument(work->kernels[0], 3, sizeof side, &side);
        } else if (!copies) {
            argument(work->kernels[0], 2, sizeof n, &n);
        }
        time_once_ms(work);
        require(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, 4 * n, found, 0, NULL, NULL), "clEnqueueReadBuffer");
        if (reduces) {
            expect(work->workload, 0, found[0], sum);
        } else {
            for (cl_long i = 0; i < n; i++) {
                const cl_long source = copies ? i : work->dimensions == 2 ? i % side * side + i / side : n - 1 - i;
                expect(work->workload, i, found[i], host[source]);
            }
        }
        double times[REPETITIONS];
        for (int i = 0; i < REPETITIONS; i++) times[i] = time_once_ms(work);
        qsort(times, REPETITIONS, sizeof times[0], compare_doubles);
        printf("%s\n  {\"workload\": \"%s\", \"device\": \"opencl\", \"implementation\": \"%s\", \"n\": %lld, "
               "\"median_ms\": %.6f, \"fewest_bytes\": %.0f}",
               is_first ? "" : ",", work->workload, work->implementation, (long long)n, times[REPETITIONS / 2],
               work->fewest_bytes);
        fflush(stdout);
        is_first = false;
    }
    printf("\n]\n");
}
