// What NVIDIA's libraries, and a careful CUDA programmer, make of the kernel-language programs of `pumice bench`.
//
// Build:  nvcc -O3 -std=c++17 -arch=native kernels.cu -lcublas -o kernels
// Run:    ./kernels [part of a workload's name]
//
// Prints rows as cuda.cu does, and checks and times in the same way. Workloads have the names of Pumice's programs.
#include <cub/cub.cuh>

#include "common.cuh"

__global__ void fill_hashed(int *values, std::size_t n) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        values[i] = static_cast<int>(hash32(static_cast<std::uint32_t>(i)));
    }
}

// Four neighbours a thread, in opposite order; n is a multiple of four.
__global__ void reverse_int4(const int4 *__restrict__ from, int4 *__restrict__ to, std::size_t quads) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < quads) {
        const int4 v = from[i];
        to[quads - 1 - i] = make_int4(v.w, v.z, v.y, v.x);
    }
}

static void expect_equal(const std::string &what, std::size_t index, long long got, long long expected) {
    if (got != expected) {
        std::fprintf(stderr, "kernels: %s: element %zu is %lld, expected %lld\n", what.c_str(), index, got,
                     expected);
        std::exit(1);
    }
}

struct Ints {
    explicit Ints(std::size_t n) : n(n), input(n), output(n) {
        fill_hashed<<<blocks_for(n), BLOCK>>>(input.data(), n);
        CHECK(cudaGetLastError());
        host = input.to_host();
    }
    std::size_t n;
    DeviceArray<int> input, output;
    std::vector<int> host;
};

static void measure_reverse(Report &report, std::size_t n) {
    const Ints ints(n);
    const auto copy = [&] {
        CHECK(cudaMemcpyAsync(ints.output.data(), ints.input.data(), n * sizeof(int), cudaMemcpyDeviceToDevice));
    };
    report.measure("reverse", "copy by cudaMemcpy", n, 8.0 * n, copy, [&](const std::string &what) {
        const std::vector<int> got = ints.output.to_host();
        for (std::size_t i = 0; i < n; i += SAMPLE_STRIDE) {
            expect_equal(what, i, got[i], ints.host[i]);
        }
    });
    const auto reverse = [&] {
        reverse_int4<<<blocks_for(n / 4), BLOCK>>>(reinterpret_cast<const int4 *>(ints.input.data()),
                                                   reinterpret_cast<int4 *>(ints.output.data()), n / 4);
        CHECK(cudaGetLastError());
    };
    report.measure("reverse", "CUDA, int4", n, 8.0 * n, reverse, [&](const std::string &what) {
        const std::vector<int> got = ints.output.to_host();
        for (std::size_t i = 0; i < n; i += SAMPLE_STRIDE) {
            expect_equal(what, i, got[i], ints.host[n - 1 - i]);
        }
    });
}

static void measure_transpose(Report &report, int side) {
    const std::size_t n = static_cast<std::size_t>(side) * side;
    const Ints ints(n);
    const auto run = [&] {
        transpose_tiled<<<dim3(side / TILE, side / TILE), dim3(TILE, TILE_ROWS)>>>(
            reinterpret_cast<const float *>(ints.input.data()), reinterpret_cast<float *>(ints.output.data()), side);
        CHECK(cudaGetLastError());
    };
    for (const char *workload : {"transpose", "transposeTiled"}) {
        report.measure(workload, "CUDA, 32x33 tile", side, 8.0 * n, run, [&](const std::string &what) {
            const std::vector<int> got = ints.output.to_host();
            for (std::size_t i = 0; i < n; i += SAMPLE_STRIDE) {
                expect_equal(what, i, got[i % side * side + i / side], ints.host[i]);
            }
        });
    }
}

static void measure_sum(Report &report, std::size_t n) {
    const Ints ints(n);
    std::size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, ints.input.data(), ints.output.data(), static_cast<int>(n)));
    const DeviceArray<unsigned char> scratch(bytes);
    const auto run = [&] {
        CHECK(cub::DeviceReduce::Sum(scratch.data(), bytes, ints.input.data(), ints.output.data(),
                                     static_cast<int>(n)));
    };
    report.measure("sumGrid", "CUB", n, 4.0 * n, run, [&](const std::string &what) {
        std::uint32_t expected = 0;
        for (const int value : ints.host) {
            expected += static_cast<std::uint32_t>(value);
        }
        expect_equal(what, 0, ints.output.to_host(1)[0], static_cast<int>(expected));
    });
}

static void measure_scan(Report &report, std::size_t n) {
    const Ints ints(n);
    std::size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, ints.input.data(), ints.output.data(), static_cast<int>(n)));
    const DeviceArray<unsigned char> scratch(bytes);
    const auto run = [&] {
        CHECK(cub::DeviceScan::InclusiveSum(scratch.data(), bytes, ints.input.data(), ints.output.data(),
                                            static_cast<int>(n)));
    };
    report.measure("scan", "CUB", n, 8.0 * n, run, [&](const std::string &what) {
        const std::vector<int> got = ints.output.to_host();
        std::uint32_t expected = 0;
        for (std::size_t i = 0; i < n; i++) {
            expected += static_cast<std::uint32_t>(ints.host[i]);
            expect_equal(what, i, got[i], static_cast<int>(expected));
        }
    });
}

static void measure_sort(Report &report, std::size_t n) {
    const Ints ints(n);
    std::size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, ints.input.data(), ints.output.data(), static_cast<int>(n)));
    const DeviceArray<unsigned char> scratch(bytes);
    const auto run = [&] {
        CHECK(cub::DeviceRadixSort::SortKeys(scratch.data(), bytes, ints.input.data(), ints.output.data(),
                                             static_cast<int>(n)));
    };
    report.measure("sort", "CUB radix sort", n, 8.0 * n, run, [&](const std::string &what) {
        const std::vector<int> got = ints.output.to_host();
        std::vector<int> expected = ints.host;
        std::sort(expected.begin(), expected.end());
        for (std::size_t i = 0; i < n; i++) {
            expect_equal(what, i, got[i], expected[i]);
        }
    });
}

static void measure_product(Report &report, cublasHandle_t cublas, int side) {
    const std::size_t n = static_cast<std::size_t>(side) * side;
    const DeviceArray<float> a(n), b(n), c(n);
    const std::vector<float> twos(n, 2.0f);
    CHECK(cudaMemcpy(a.data(), twos.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b.data(), twos.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const float one = 1, zero = 0;
    // The default mode computes in single precision, not in TF32.
    const auto run = [&] {
        CHECK(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a.data(), side, b.data(), side,
                          &zero, c.data(), side));
    };
    report.measure("matMul", "cuBLAS sgemm", side, Work::operations(2.0 * n * side), run, [&](const std::string &what) {
        expect_close(what, 0, c.to_host(1)[0], 4.0 * side, 1e-6);
    });
}

static void measure_histogram(Report &report, std::size_t n) {
    const Ints ints(n);
    std::vector<unsigned char> values(n);
    for (std::size_t i = 0; i < n; i++) {
        values[i] = static_cast<unsigned char>(ints.host[i]);
    }
    std::vector<int> small(n);
    for (std::size_t i = 0; i < n; i++) {
        small[i] = values[i];
    }
    CHECK(cudaMemcpy(ints.input.data(), small.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    CHECK(cub::DeviceHistogram::HistogramEven(nullptr, bytes, ints.input.data(), ints.output.data(), 257, 0, 256,
                                              static_cast<int>(n)));
    const DeviceArray<unsigned char> scratch(bytes);
    const auto run = [&] {
        CHECK(cub::DeviceHistogram::HistogramEven(scratch.data(), bytes, ints.input.data(), ints.output.data(), 257,
                                                  0, 256, static_cast<int>(n)));
    };
    report.measure("histogram", "CUB", n, 4.0 * n, run, [&](const std::string &what) {
        std::vector<int> expected(256);
        for (const unsigned char value : values) {
            expected[value]++;
        }
        const std::vector<int> got = ints.output.to_host(256);
        for (std::size_t i = 0; i < 256; i++) {
            expect_equal(what, i, got[i], expected[i]);
        }
    });
}

int main(int argument_count, char **arguments) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "note: no CUDA peers: no CUDA device\n");
        std::printf("[]\n");
        return 0;
    }
    Report report(argument_count > 1 ? arguments[1] : "");
    cublasHandle_t cublas = nullptr;
    CHECK(cublasCreate(&cublas));
    measure_reverse(report, std::size_t{1} << 24);
    measure_reverse(report, std::size_t{1} << 26);
    measure_transpose(report, 8192);
    measure_sum(report, std::size_t{1} << 24);
    measure_scan(report, std::size_t{1} << 26);
    for (int bits = 20; bits <= 24; bits++) {
        measure_sort(report, std::size_t{1} << bits);
    }
    measure_product(report, cublas, 4096);
    measure_histogram(report, std::size_t{1} << 26);
    CHECK(cublasDestroy(cublas));
    return 0;
}
