// What the CUDA peers share: errors, device memory, timing, rows. Measures nothing itself.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

constexpr int BLOCK = 256;
constexpr int TILE = 32;
constexpr int TILE_ROWS = 8;
// A prime, so that samples fall on every position within a tile, a warp or a vector.
constexpr std::size_t SAMPLE_STRIDE = 10007;
constexpr int WARM_UP_RUNS = 5;
constexpr int REPETITIONS = 51;

// -------------------------------------------------------------------------------------------------------------
// Errors.

static void require(cudaError_t status, const char *call, int line) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(status));
        std::exit(1);
    }
}

static void require(cublasStatus_t status, const char *call, int line) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: cuBLAS status %d\n", line, call, static_cast<int>(status));
        std::exit(1);
    }
}

// A macro for the sake of the message, which names the call and its line.
#define CHECK(call) require((call), #call, __LINE__)

// -------------------------------------------------------------------------------------------------------------
// Device memory.

template <typename T> class DeviceArray {
public:
    explicit DeviceArray(std::size_t length) : length_(length) {
        // Never nothing: CUB takes a null pointer for the question how much scratch memory it needs.
        const std::size_t bytes = std::max<std::size_t>(length, 1) * sizeof(T);
        CHECK(cudaMalloc(reinterpret_cast<void **>(&data_), bytes));
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    T *data() const { return data_; }

    // So that an implementation does not pass its check by what the one before it left behind.
    void clear() const { CHECK(cudaMemset(data_, 0, length_ * sizeof(T))); }

    std::vector<T> to_host(std::size_t length) const {
        std::vector<T> host(length);
        CHECK(cudaMemcpy(host.data(), data_, length * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    std::vector<T> to_host() const { return to_host(length_); }

private:
    T *data_ = nullptr;
    std::size_t length_;
};

static unsigned blocks_for(std::size_t threads) {
    return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK);
}

// -------------------------------------------------------------------------------------------------------------
// Inputs.

__host__ __device__ inline std::uint32_t hash32(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

// Uniform in [0, 1); the same numbers in every peer program.
__host__ __device__ inline float uniform(std::uint32_t index, std::uint32_t stream) {
    return static_cast<float>(hash32(index + stream * 0x9e3779b9U) >> 8) * (1.0f / 16777216.0f);
}

// -------------------------------------------------------------------------------------------------------------
// Timing and output.

class EventTimer {
public:
    EventTimer() {
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&end_));
    }
    ~EventTimer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
    }
    EventTimer(const EventTimer &) = delete;
    EventTimer &operator=(const EventTimer &) = delete;

    float time_once_ms(const std::function<void()> &run) const {
        float milliseconds = 0;
        CHECK(cudaEventRecord(start_));
        run();
        CHECK(cudaEventRecord(end_));
        CHECK(cudaEventSynchronize(end_));
        CHECK(cudaEventElapsedTime(&milliseconds, start_, end_));
        return milliseconds;
    }

private:
    cudaEvent_t start_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

static double median_ms(const std::function<void()> &run) {
    const EventTimer timer;
    for (int i = 0; i < WARM_UP_RUNS; i++) {
        run();
    }
    CHECK(cudaDeviceSynchronize());
    std::vector<float> times;
    for (int i = 0; i < REPETITIONS; i++) {
        times.push_back(timer.time_once_ms(run));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The least that must be done: bytes that are moved, or operations on floats where those take longer.
struct Work {
    Work(double bytes) : name("fewest_bytes"), count(bytes) {}
    static Work operations(double count) {
        Work work(count);
        work.name = "operations";
        return work;
    }

    const char *name;
    double count;
};

class Report {
public:
    explicit Report(std::string wanted) : wanted_(std::move(wanted)) { std::printf("["); }
    ~Report() { std::printf("\n]\n"); }
    Report(const Report &) = delete;
    Report &operator=(const Report &) = delete;

    // Whether a workload is asked for.
    bool wants(const std::string &workload) const { return workload.find(wanted_) != std::string::npos; }

    // Runs once and checks, then times, unless the workload was not asked for.
    void measure(const std::string &workload, const char *implementation, std::size_t n, Work work,
                 const std::function<void()> &run, const std::function<void(const std::string &)> &check) {
        if (!wants(workload)) {
            return;
        }
        run();
        CHECK(cudaDeviceSynchronize());
        check(workload + ", " + implementation);
        print_row(workload, implementation, n, work, median_ms(run));
    }

private:
    void print_row(const std::string &workload, const char *implementation, std::size_t n,
                   Work work, double milliseconds) {
        std::printf(
            "%s\n  {\"workload\": \"%s\", \"device\": \"cuda\", \"implementation\": \"%s\", \"n\": %zu, "
            "\"median_ms\": %.6f, \"%s\": %.0f}",
            is_first_ ? "" : ",", workload.c_str(), implementation, n, milliseconds, work.name, work.count);
        std::fflush(stdout);
        is_first_ = false;
    }

    std::string wanted_;
    bool is_first_ = true;
};

// -------------------------------------------------------------------------------------------------------------
// Checks.

static void expect_close(const std::string &what, std::size_t index, double got, double expected,
                         double tolerance) {
    const double allowed = tolerance * (1.0 + std::fabs(expected));
    // Negated, so that a NaN fails too.
    if (!(std::fabs(got - expected) <= allowed)) {
        std::fprintf(stderr, "cuda: %s: element %zu is %.9g, expected %.9g\n", what.c_str(), index, got,
                     expected);
        std::exit(1);
    }
}

// -------------------------------------------------------------------------------------------------------------
// A kernel that two programs measure.

__global__ void transpose_tiled(const float *__restrict__ matrix, float *__restrict__ transposed, int side) {
    __shared__ float tile[TILE][TILE + 1];
    const int column = static_cast<int>(blockIdx.x) * TILE + static_cast<int>(threadIdx.x);
    const int row = static_cast<int>(blockIdx.y) * TILE + static_cast<int>(threadIdx.y);
    for (int i = 0; i < TILE; i += TILE_ROWS) {
        tile[threadIdx.y + i][threadIdx.x] = matrix[static_cast<std::size_t>(row + i) * side + column];
    }
    __syncthreads();
    const int target_column = static_cast<int>(blockIdx.y) * TILE + static_cast<int>(threadIdx.x);
    const int target_row = static_cast<int>(blockIdx.x) * TILE + static_cast<int>(threadIdx.y);
    for (int i = 0; i < TILE; i += TILE_ROWS) {
        transposed[static_cast<std::size_t>(target_row + i) * side + target_column] =
            tile[threadIdx.x][threadIdx.y + i];
    }
}
