// What NVIDIA's libraries, and a careful CUDA programmer, make of the workloads of `pumice bench` on a GPU.
//
// Build:  nvcc -O3 -std=c++17 -arch=native cuda.cu -lcublas -o cuda
// Run:    ./cuda [part of a workload's name]
//
// Prints a JSON array of rows (see README.md) on stdout. Inputs lie on the device before the clock starts;
// times are medians between device events. Every result is checked against a plain reference on the host
// before it is timed; a wrong one, and every error that CUDA or cuBLAS reports, ends the program with a
// message on stderr.
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <type_traits>

#include "common.cuh"

constexpr std::size_t VECTOR_LENGTH = std::size_t{1} << 26;
constexpr std::size_t OPTION_COUNT = std::size_t{1} << 24;
constexpr int MATRIX_SIDE = 8192; // MATRIX_SIDE squared is VECTOR_LENGTH
constexpr int ROW_LENGTHS[] = {1 << 2, 1 << 6, 1 << 10, 1 << 13, 1 << 20};
constexpr int PICTURE_WIDTH = 2048;
constexpr int PICTURE_HEIGHT = 2048;
constexpr int ITERATION_CAP = 64;

constexpr float SAXPY_FACTOR = 2.5f;
constexpr float RISK_FREE_RATE = 0.02f;
constexpr float VOLATILITY = 0.3f;

// -------------------------------------------------------------------------------------------------------------
// Kernels.

__global__ void fill_uniform(float *values, std::size_t n, std::uint32_t stream) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        values[i] = uniform(static_cast<std::uint32_t>(i), stream);
    }
}

__global__ void saxpy_float4(float a, const float4 *__restrict__ x, const float4 *__restrict__ y,
                             float4 *__restrict__ z, std::size_t quads) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < quads) {
        const float4 u = x[i];
        const float4 v = y[i];
        z[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
}

// The cumulative normal distribution, by the polynomial of Abramowitz and Stegun, 26.2.17.
__device__ inline float cumulative_normal(float d) {
    const float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    const float polynomial =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143267794f * __expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

struct Prices {
    float call;
    float put;
};

__device__ inline Prices price_option(float x, float y, float z) {
    const float price = x * 25.0f + 5.0f;
    const float strike = y * 99.0f + 1.0f;
    const float years = z * 9.75f + 0.25f;
    // years is at least 0.25, so its root may be taken through the reciprocal one.
    const float deviation = VOLATILITY * years * rsqrtf(years);
    const float drift = RISK_FREE_RATE + 0.5f * VOLATILITY * VOLATILITY;
    const float d1 = __fdividef(__logf(__fdividef(price, strike)) + drift * years, deviation);
    const float d2 = d1 - deviation;
    const float normal1 = cumulative_normal(d1);
    const float normal2 = cumulative_normal(d2);
    const float discounted = strike * __expf(-RISK_FREE_RATE * years);
    Prices prices;
    prices.call = price * normal1 - discounted * normal2;
    prices.put = discounted * (1.0f - normal2) - price * (1.0f - normal1);
    return prices;
}

__global__ void black_scholes(const float *__restrict__ x, const float *__restrict__ y,
                              const float *__restrict__ z, float *__restrict__ call, float *__restrict__ put,
                              std::size_t n) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        const Prices prices = price_option(x[i], y[i], z[i]);
        call[i] = prices.call;
        put[i] = prices.put;
    }
}

__global__ void black_scholes_float4(const float4 *__restrict__ x, const float4 *__restrict__ y,
                                     const float4 *__restrict__ z, float4 *__restrict__ call,
                                     float4 *__restrict__ put, std::size_t quads) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < quads) {
        const float4 u = x[i];
        const float4 v = y[i];
        const float4 w = z[i];
        const Prices first = price_option(u.x, v.x, w.x);
        const Prices second = price_option(u.y, v.y, w.y);
        const Prices third = price_option(u.z, v.z, w.z);
        const Prices fourth = price_option(u.w, v.w, w.w);
        call[i] = make_float4(first.call, second.call, third.call, fourth.call);
        put[i] = make_float4(first.put, second.put, third.put, fourth.put);
    }
}

__global__ void mandelbrot(int *__restrict__ counts) {
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (column >= PICTURE_WIDTH || row >= PICTURE_HEIGHT) {
        return;
    }
    const float cx = -2.0f + 3.0f * static_cast<float>(column) / PICTURE_WIDTH;
    const float cy = -1.0f + 2.0f * static_cast<float>(row) / PICTURE_HEIGHT;
    float x = 0.0f;
    float y = 0.0f;
    int count = 0;
    while (count < ITERATION_CAP && x * x + y * y <= 4.0f) {
        const float next_x = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next_x;
        count++;
    }
    counts[row * PICTURE_WIDTH + column] = count;
}

// The tile has a column too many so that reading it by columns meets 32 different banks.
// -------------------------------------------------------------------------------------------------------------
// Checks: double precision, on the host, no cleverness.


static double reference_normal(double d) {
    return 0.5 * std::erfc(-d / std::sqrt(2.0));
}

static void expect_prices(const std::string &what, std::size_t i, float call, float put) {
    const auto index = static_cast<std::uint32_t>(i);
    const double price = uniform(index, 0) * 25.0 + 5.0;
    const double strike = uniform(index, 1) * 99.0 + 1.0;
    const double years = uniform(index, 2) * 9.75 + 0.25;
    const double rate = RISK_FREE_RATE, volatility = VOLATILITY;
    const double deviation = volatility * std::sqrt(years);
    const double d1 = (std::log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation;
    const double d2 = d1 - deviation;
    const double discounted = strike * std::exp(-rate * years);
    expect_close(what, i, call, price * reference_normal(d1) - discounted * reference_normal(d2), 1e-4);
    expect_close(what, i, put, discounted * reference_normal(-d2) - price * reference_normal(-d1), 1e-4);
}

static int expected_count(int row, int column) {
    const double cx = -2.0 + 3.0 * column / PICTURE_WIDTH;
    const double cy = -1.0 + 2.0 * row / PICTURE_HEIGHT;
    double x = 0, y = 0;
    int count = 0;
    while (count < ITERATION_CAP && x * x + y * y <= 4.0) {
        const double next_x = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next_x;
        count++;
    }
    return count;
}

// -------------------------------------------------------------------------------------------------------------
// Workloads.

struct Inputs {
    DeviceArray<float> x{VECTOR_LENGTH};
    DeviceArray<float> y{VECTOR_LENGTH};
    DeviceArray<float> z{OPTION_COUNT};
    std::vector<float> host_x;
    std::vector<float> host_y;

    Inputs() {
        fill_uniform<<<blocks_for(VECTOR_LENGTH), BLOCK>>>(x.data(), VECTOR_LENGTH, 0);
        CHECK(cudaGetLastError());
        fill_uniform<<<blocks_for(VECTOR_LENGTH), BLOCK>>>(y.data(), VECTOR_LENGTH, 1);
        CHECK(cudaGetLastError());
        fill_uniform<<<blocks_for(OPTION_COUNT), BLOCK>>>(z.data(), OPTION_COUNT, 2);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        host_x = x.to_host();
        host_y = y.to_host();
    }
};

static void measure_copy(Report &report, const Inputs &inputs, const DeviceArray<float> &output) {
    const auto run = [&] {
        CHECK(cudaMemcpyAsync(output.data(), inputs.x.data(), VECTOR_LENGTH * sizeof(float),
                              cudaMemcpyDeviceToDevice));
    };
    const auto check = [&](const std::string &what) {
        const std::vector<float> got = output.to_host();
        for (std::size_t i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
            expect_close(what, i, got[i], inputs.host_x[i], 0);
        }
    };
    report.measure("copy f32", "CUDA, cudaMemcpy", VECTOR_LENGTH, 8.0 * VECTOR_LENGTH, run, check);
}

static void measure_saxpy(Report &report, const Inputs &inputs, const DeviceArray<float> &output) {
    const std::size_t quads = VECTOR_LENGTH / 4;
    const auto run = [&] {
        saxpy_float4<<<blocks_for(quads), BLOCK>>>(SAXPY_FACTOR,
                                                   reinterpret_cast<const float4 *>(inputs.x.data()),
                                                   reinterpret_cast<const float4 *>(inputs.y.data()),
                                                   reinterpret_cast<float4 *>(output.data()), quads);
        CHECK(cudaGetLastError());
    };
    const auto check = [&](const std::string &what) {
        const std::vector<float> got = output.to_host();
        for (std::size_t i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
            const double expected = static_cast<double>(SAXPY_FACTOR) * inputs.host_x[i] + inputs.host_y[i];
            expect_close(what, i, got[i], expected, 1e-6);
        }
    };
    report.measure("saxpy f32", "CUDA, float4", VECTOR_LENGTH, 12.0 * VECTOR_LENGTH, run, check);
}

static void measure_dot(Report &report, const Inputs &inputs, const DeviceArray<float> &output,
                        cublasHandle_t cublas) {
    const auto run = [&] {
        CHECK(cublasSdot(cublas, static_cast<int>(VECTOR_LENGTH), inputs.x.data(), 1, inputs.y.data(), 1,
                         output.data()));
    };
    const auto check = [&](const std::string &what) {
        double expected = 0;
        for (std::size_t i = 0; i < VECTOR_LENGTH; i++) {
            expected += static_cast<double>(inputs.host_x[i]) * inputs.host_y[i];
        }
        expect_close(what, 0, output.to_host(1)[0], expected, 1e-3);
    };
    // The result stays on the device: a transfer to the host would be timed otherwise.
    CHECK(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));
    report.measure("dot f32", "cuBLAS", VECTOR_LENGTH, 8.0 * VECTOR_LENGTH, run, check);
}

static void measure_sum(Report &report, const Inputs &inputs, const DeviceArray<float> &output) {
    const int length = static_cast<int>(VECTOR_LENGTH);
    std::size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, inputs.x.data(), output.data(), length));
    const DeviceArray<unsigned char> scratch(scratch_bytes);
    const auto run = [&] {
        CHECK(cub::DeviceReduce::Sum(scratch.data(), scratch_bytes, inputs.x.data(), output.data(), length));
    };
    const auto check = [&](const std::string &what) {
        double expected = 0;
        for (const float value : inputs.host_x) {
            expected += value;
        }
        expect_close(what, 0, output.to_host(1)[0], expected, 1e-3);
    };
    report.measure("sum f32", "CUB", VECTOR_LENGTH, 4.0 * VECTOR_LENGTH, run, check);
}

// Where row i of a matrix starts. An iterator over it spares CUB the reading of an array of offsets.
struct RowStart {
    int columns;
    __host__ __device__ int operator()(int row) const { return row * columns; }
};

using RowStarts = thrust::transform_iterator<RowStart, thrust::counting_iterator<int>>;

static RowStarts row_starts(int columns) {
    return RowStarts(thrust::counting_iterator<int>(0), RowStart{columns});
}

// Newer versions of CUB have a sum of segments of one fixed length; older ones are still to compile.
template <typename Input, typename = void> struct HasFixedSegments : std::false_type {};

template <typename Input>
struct HasFixedSegments<Input, std::void_t<decltype(cub::DeviceSegmentedReduce::Sum(
                                   std::declval<void *>(), std::declval<std::size_t &>(),
                                   std::declval<Input>(), std::declval<float *>(), std::int64_t{1}, int{1}))>>
    : std::true_type {};

template <typename Input>
static cudaError_t sum_fixed_segments(void *scratch, std::size_t &scratch_bytes, Input input, float *sums,
                                      int rows, int columns) {
    if constexpr (HasFixedSegments<Input>::value) {
        return cub::DeviceSegmentedReduce::Sum(scratch, scratch_bytes, input, sums, std::int64_t{rows},
                                               columns);
    } else {
        return cudaErrorNotSupported;
    }
}

static void measure_row_sums(Report &report, const Inputs &inputs, const DeviceArray<float> &output,
                             int columns) {
    const int rows = static_cast<int>(VECTOR_LENGTH / columns);
    const std::string workload = "row sums f32 " + std::to_string(rows) + "x" + std::to_string(columns);
    const double fewest_bytes = 4.0 * (static_cast<double>(VECTOR_LENGTH) + rows);
    const float *input = inputs.x.data();
    const auto check = [&](const std::string &what) {
        const std::vector<float> got = output.to_host(rows);
        const int stride = rows > 1000 ? 101 : 1;
        for (int row = 0; row < rows; row += stride) {
            double expected = 0;
            for (int column = 0; column < columns; column++) {
                expected += inputs.host_x[static_cast<std::size_t>(row) * columns + column];
            }
            expect_close(what, row, got[row], expected, 1e-4);
        }
    };

    const RowStarts starts = row_starts(columns);
    std::size_t scratch_bytes = 0;
    CHECK(cub::DeviceSegmentedReduce::Sum(nullptr, scratch_bytes, input, output.data(), rows, starts,
                                          starts + 1));
    const DeviceArray<unsigned char> scratch(scratch_bytes);
    const auto run = [&] {
        CHECK(cub::DeviceSegmentedReduce::Sum(scratch.data(), scratch_bytes, input, output.data(), rows,
                                              starts, starts + 1));
    };
    report.measure(workload, "CUB", VECTOR_LENGTH, fewest_bytes, run, check);

    if constexpr (HasFixedSegments<const float *>::value) {
        std::size_t fixed_scratch_bytes = 0;
        CHECK(sum_fixed_segments(nullptr, fixed_scratch_bytes, input, output.data(), rows, columns));
        const DeviceArray<unsigned char> fixed_scratch(fixed_scratch_bytes);
        const auto run_fixed = [&] {
            CHECK(sum_fixed_segments(fixed_scratch.data(), fixed_scratch_bytes, input, output.data(), rows,
                                     columns));
        };
        output.clear();
        report.measure(workload, "CUB, fixed segments", VECTOR_LENGTH, fewest_bytes, run_fixed, check);
    }
}

static void measure_black_scholes(Report &report, const Inputs &inputs) {
    const DeviceArray<float> call(OPTION_COUNT);
    const DeviceArray<float> put(OPTION_COUNT);
    const std::size_t quads = OPTION_COUNT / 4;
    const auto run = [&] {
        black_scholes<<<blocks_for(OPTION_COUNT), BLOCK>>>(inputs.x.data(), inputs.y.data(), inputs.z.data(),
                                                           call.data(), put.data(), OPTION_COUNT);
        CHECK(cudaGetLastError());
    };
    const auto run_float4 = [&] {
        black_scholes_float4<<<blocks_for(quads), BLOCK>>>(reinterpret_cast<const float4 *>(inputs.x.data()),
                                                           reinterpret_cast<const float4 *>(inputs.y.data()),
                                                           reinterpret_cast<const float4 *>(inputs.z.data()),
                                                           reinterpret_cast<float4 *>(call.data()),
                                                           reinterpret_cast<float4 *>(put.data()), quads);
        CHECK(cudaGetLastError());
    };
    const auto check = [&](const std::string &what) {
        const std::vector<float> calls = call.to_host();
        const std::vector<float> puts = put.to_host();
        for (std::size_t i = 0; i < OPTION_COUNT; i += SAMPLE_STRIDE) {
            expect_prices(what, i, calls[i], puts[i]);
        }
    };
    const double fewest_bytes = 20.0 * OPTION_COUNT;
    report.measure("black-scholes f32", "CUDA, fast math", OPTION_COUNT, fewest_bytes, run, check);
    call.clear();
    put.clear();
    report.measure("black-scholes f32", "CUDA, fast math, float4", OPTION_COUNT, fewest_bytes, run_float4,
                   check);
}

static void measure_mandelbrot(Report &report) {
    const std::size_t points = static_cast<std::size_t>(PICTURE_WIDTH) * PICTURE_HEIGHT;
    const DeviceArray<int> counts(points);
    const auto run = [&] {
        const dim3 block(32, 8);
        const dim3 grid((PICTURE_WIDTH + block.x - 1) / block.x, (PICTURE_HEIGHT + block.y - 1) / block.y);
        mandelbrot<<<grid, block>>>(counts.data());
        CHECK(cudaGetLastError());
    };
    // A share of points, not each one: at the set's edge the last bit decides, and the device contracts.
    const auto check = [&](const std::string &what) {
        const std::vector<int> got = counts.to_host();
        std::size_t samples = 0, different = 0;
        for (std::size_t i = 0; i < points; i += 1009) {
            const int row = static_cast<int>(i / PICTURE_WIDTH), column = static_cast<int>(i % PICTURE_WIDTH);
            samples++;
            different += got[i] != expected_count(row, column);
        }
        if (different * 200 > samples) {
            std::fprintf(stderr, "cuda: %s: %zu of %zu sampled counts are wrong\n", what.c_str(), different,
                         samples);
            std::exit(1);
        }
    };
    report.measure("mandelbrot 2048x2048 cap 64", "CUDA", points, 4.0 * points, run, check);
}

static void measure_transpose(Report &report, const Inputs &inputs, const DeviceArray<float> &output,
                              cublasHandle_t cublas) {
    const auto run_tiled = [&] {
        const dim3 grid(MATRIX_SIDE / TILE, MATRIX_SIDE / TILE);
        transpose_tiled<<<grid, dim3(TILE, TILE_ROWS)>>>(inputs.x.data(), output.data(), MATRIX_SIDE);
        CHECK(cudaGetLastError());
    };
    const float one = 1, zero = 0;
    const auto run_cublas = [&] {
        CHECK(cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, MATRIX_SIDE, MATRIX_SIDE, &one, inputs.x.data(),
                          MATRIX_SIDE, &zero, inputs.x.data(), MATRIX_SIDE, output.data(), MATRIX_SIDE));
    };
    const auto check = [&](const std::string &what) {
        const std::vector<float> got = output.to_host();
        for (std::size_t i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
            const std::size_t row = i / MATRIX_SIDE, column = i % MATRIX_SIDE;
            expect_close(what, i, got[column * MATRIX_SIDE + row], inputs.host_x[i], 0);
        }
    };
    const double fewest_bytes = 8.0 * VECTOR_LENGTH;
    report.measure("transpose f32 8192x8192", "CUDA, 32x33 tile", VECTOR_LENGTH, fewest_bytes, run_tiled,
                   check);
    output.clear();
    CHECK(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_HOST));
    report.measure("transpose f32 8192x8192", "cuBLAS sgeam", VECTOR_LENGTH, fewest_bytes, run_cublas, check);
}

int main(int argument_count, char **arguments) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "note: no CUDA peers: no CUDA device\n");
        std::printf("[]\n");
        return 0;
    }
    Report report(argument_count > 1 ? arguments[1] : "");
    const Inputs inputs;
    const DeviceArray<float> output(VECTOR_LENGTH);
    cublasHandle_t cublas = nullptr;
    CHECK(cublasCreate(&cublas));

    measure_copy(report, inputs, output);
    measure_saxpy(report, inputs, output);
    measure_dot(report, inputs, output, cublas);
    measure_sum(report, inputs, output);
    for (const int columns : ROW_LENGTHS) {
        measure_row_sums(report, inputs, output, columns);
    }
    measure_black_scholes(report, inputs);
    measure_mandelbrot(report);
    measure_transpose(report, inputs, output, cublas);

    CHECK(cublasDestroy(cublas));
    return 0;
}
