// What CUB, and a careful CUDA programmer, make of scans, selections, histograms and sorts on a GPU.
//
// Build:  nvcc -O3 -std=c++17 -arch=native irregular.cu -lcublas -o irregular
// Run:    ./irregular [part of a workload's name]
//
// Prints rows as cuda.cu does, and checks and times in the same way.
#include <algorithm>
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "common.cuh"

constexpr std::size_t LENGTH = std::size_t{1} << 26;
constexpr int COUNT = static_cast<int>(LENGTH);
constexpr int ROW_LENGTHS[] = {1 << 6, 1 << 10, 1 << 13, 1 << 20};
constexpr int BITS_OF_BINS[] = {8, 16, 20};

// -------------------------------------------------------------------------------------------------------------
// Inputs: the same in every peer program.

// Small, so that their sums fit.
struct Small {
    __host__ __device__ int operator()(std::uint32_t i) const { return static_cast<int>(hash32(i) >> 28); }
};
struct Word {
    __host__ __device__ int operator()(std::uint32_t i) const { return static_cast<int>(hash32(i)); }
};
struct Hash {
    __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return hash32(i); }
};
struct Place {
    __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return i; }
};
struct Uniform {
    __host__ __device__ float operator()(std::uint32_t i) const { return uniform(i, 0); }
};
struct Key {
    int bits;
    __host__ __device__ int operator()(std::uint32_t i) const {
        return static_cast<int>(hash32(i) >> (32 - bits));
    }
};

template <typename T, typename F> __global__ void fill(T *values, std::size_t n, F f) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        values[i] = f(static_cast<std::uint32_t>(i));
    }
}

template <typename T> struct Input {
    template <typename F> explicit Input(F f) {
        fill<<<blocks_for(LENGTH), BLOCK>>>(array.data(), LENGTH, f);
        CHECK(cudaGetLastError());
        host = array.to_host();
    }
    DeviceArray<T> array{LENGTH};
    std::vector<T> host;
};

// Runs a function of CUB, which says with no scratch memory how much it needs.
template <typename Call> class WithScratch {
public:
    explicit WithScratch(Call call) : call_(call), bytes_(needed(call)), scratch_(bytes_) {}
    void operator()() {
        std::size_t bytes = bytes_;
        CHECK(call_(scratch_.data(), bytes));
    }

private:
    static std::size_t needed(Call call) {
        std::size_t bytes = 0;
        CHECK(call(nullptr, bytes));
        return bytes;
    }
    Call call_;
    std::size_t bytes_;
    DeviceArray<unsigned char> scratch_;
};

// -------------------------------------------------------------------------------------------------------------
// Scans.

template <typename T>
static void measure_scan(Report &report, const char *type, const Input<T> &input, double tolerance) {
    const DeviceArray<T> output(LENGTH);
    WithScratch scan([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, input.array.data(), output.data(), COUNT);
    });
    const auto check = [&](const std::string &what) {
        const std::vector<T> got = output.to_host();
        double sum = 0;
        for (std::size_t i = 0; i < LENGTH; i++) {
            sum += input.host[i];
            expect_close(what, i, got[i], sum, tolerance);
        }
    };
    report.measure(std::string("prefix sums ") + type, "CUB", LENGTH, 8.0 * LENGTH, [&] { scan(); }, check);
}

struct RowOf {
    int columns;
    __host__ __device__ int operator()(int i) const { return i / columns; }
};

// CUB scans rows as segments of equal keys; the keys are computed.
static void measure_row_scans(Report &report, const Input<float> &input, int columns) {
    const DeviceArray<float> output(LENGTH);
    using Keys = thrust::transform_iterator<RowOf, thrust::counting_iterator<int>>;
    const Keys keys(thrust::counting_iterator<int>(0), RowOf{columns});
    WithScratch scan([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceScan::InclusiveSumByKey(scratch, bytes, keys, input.array.data(), output.data(), COUNT);
    });
    const auto check = [&](const std::string &what) {
        const std::vector<float> got = output.to_host();
        double sum = 0;
        for (std::size_t i = 0; i < LENGTH; i++) {
            sum = i % columns == 0 ? input.host[i] : sum + input.host[i];
            expect_close(what, i, got[i], sum, 1e-3);
        }
    };
    const std::size_t rows = LENGTH / columns;
    const std::string workload = "row prefix sums f32 " + std::to_string(rows) + "x" + std::to_string(columns);
    report.measure(workload, "CUB, by key", LENGTH, 8.0 * LENGTH, [&] { scan(); }, check);
}

// -------------------------------------------------------------------------------------------------------------
// Selections and folds.

struct IsFourth {
    __host__ __device__ bool operator()(int x) const { return (x & 3) == 0; }
};

static void measure_select(Report &report) {
    const Input<int> input(Word{});
    const DeviceArray<int> output(LENGTH);
    const DeviceArray<int> count(1);
    WithScratch select([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceSelect::If(scratch, bytes, input.array.data(), output.data(), count.data(), COUNT,
                                     IsFourth{});
    });
    const auto check = [&](const std::string &what) {
        const std::vector<int> got = output.to_host();
        std::size_t place = 0;
        for (const int value : input.host) {
            if (IsFourth{}(value)) {
                expect_close(what, place, got[place], value, 0);
                place++;
            }
        }
        expect_close(what, LENGTH, count.to_host()[0], static_cast<double>(place), 0);
    };
    report.measure("select 1 in 4 i32", "CUB", LENGTH, 5.0 * LENGTH, [&] { select(); }, check);
}

struct BelowQuarter {
    __host__ __device__ float operator()(float x) const { return x < 0.25f ? x : 0.0f; }
};

static void measure_filtered_sum(Report &report, const Input<float> &input) {
    const DeviceArray<float> output(1);
    using Values = thrust::transform_iterator<BelowQuarter, const float *>;
    const Values values(input.array.data(), BelowQuarter{});
    WithScratch sum([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, values, output.data(), COUNT);
    });
    const auto check = [&](const std::string &what) {
        double expected = 0;
        for (const float x : input.host) {
            expected += BelowQuarter{}(x);
        }
        expect_close(what, 0, output.to_host()[0], expected, 1e-3);
    };
    report.measure("filtered sum f32", "CUB", LENGTH, 4.0 * LENGTH, [&] { sum(); }, check);
}

struct Moments {
    float sum;
    float squares;
};
struct MomentsOf {
    __host__ __device__ Moments operator()(float x) const { return {x, x * x}; }
};
struct Add {
    __host__ __device__ Moments operator()(Moments a, Moments b) const {
        return {a.sum + b.sum, a.squares + b.squares};
    }
};

static void measure_mean_and_variance(Report &report, const Input<float> &input) {
    const DeviceArray<Moments> output(1);
    using Values = thrust::transform_iterator<MomentsOf, const float *>;
    const Values values(input.array.data(), MomentsOf{});
    WithScratch fold([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceReduce::Reduce(scratch, bytes, values, output.data(), COUNT, Add{}, Moments{0, 0});
    });
    const auto check = [&](const std::string &what) {
        double sum = 0, squares = 0;
        for (const float x : input.host) {
            sum += x;
            squares += static_cast<double>(x) * x;
        }
        const Moments got = output.to_host()[0];
        expect_close(what, 0, got.sum, sum, 1e-3);
        expect_close(what, 1, got.squares, squares, 1e-3);
    };
    report.measure("mean and variance f32", "CUB, both sums", LENGTH, 4.0 * LENGTH, [&] { fold(); }, check);
}

// -------------------------------------------------------------------------------------------------------------
// Histograms.

__global__ void count_keys(const int *__restrict__ keys, int *__restrict__ bins, std::size_t n) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[keys[i]], 1);
    }
}

static void measure_histogram(Report &report, int bits) {
    const Input<int> input(Key{bits});
    const int bins = 1 << bits;
    const DeviceArray<int> output(bins);
    const auto check = [&](const std::string &what) {
        std::vector<int> expected(bins, 0);
        for (const int key : input.host) {
            expected[key]++;
        }
        const std::vector<int> got = output.to_host();
        for (int bin = 0; bin < bins; bin++) {
            expect_close(what, bin, got[bin], expected[bin], 0);
        }
    };
    const std::string workload = "bins i32 " + std::to_string(bins);
    const double fewest_bytes = 4.0 * LENGTH;
    WithScratch histogram([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, input.array.data(), output.data(), bins + 1, 0,
                                                   bins, COUNT);
    });
    report.measure(workload, "CUB", LENGTH, fewest_bytes, [&] { histogram(); }, check);
    output.clear();
    const auto naive = [&] {
        CHECK(cudaMemsetAsync(output.data(), 0, bins * sizeof(int)));
        count_keys<<<blocks_for(LENGTH), BLOCK>>>(input.array.data(), output.data(), LENGTH);
        CHECK(cudaGetLastError());
    };
    report.measure(workload, "CUDA, an atomic each", LENGTH, fewest_bytes, naive, check);
}

// -------------------------------------------------------------------------------------------------------------
// Sorts.

constexpr int SORTED = 1 << 24;

template <typename T> static void measure_sort(Report &report, const char *type, const Input<T> &input) {
    const DeviceArray<T> output(SORTED);
    WithScratch sort([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, input.array.data(), output.data(), SORTED);
    });
    const auto check = [&](const std::string &what) {
        const std::vector<T> got = output.to_host();
        std::vector<T> expected(input.host.begin(), input.host.begin() + SORTED);
        std::sort(expected.begin(), expected.end());
        for (std::size_t i = 0; i < expected.size(); i++) {
            expect_close(what, i, got[i], expected[i], 0);
        }
    };
    report.measure(std::string("sort ") + type, "CUB", SORTED, 8.0 * SORTED, [&] { sort(); }, check);
}

// The values are the places of the keys, so that a sort which is not stable would be seen.
static void measure_sort_by_key(Report &report) {
    const Input<std::uint32_t> keys(Hash{});
    const Input<std::uint32_t> values(Place{});
    const DeviceArray<std::uint32_t> sorted_keys(SORTED), sorted_values(SORTED);
    WithScratch sort([&](void *scratch, std::size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.array.data(), sorted_keys.data(),
                                               values.array.data(), sorted_values.data(), SORTED);
    });
    const auto check = [&](const std::string &what) {
        const std::vector<std::uint32_t> got = sorted_values.to_host();
        for (std::size_t i = 1; i < got.size(); i++) {
            const auto before = std::make_pair(keys.host[got[i - 1]], got[i - 1]);
            expect_close(what, i, before < std::make_pair(keys.host[got[i]], got[i]), 1, 0);
        }
    };
    report.measure("sort by key (u32, u32)", "CUB", SORTED, 16.0 * SORTED, [&] { sort(); }, check);
}

int main(int argument_count, char **arguments) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "note: no CUDA peers: no CUDA device\n");
        std::printf("[]\n");
        return 0;
    }
    Report report(argument_count > 1 ? arguments[1] : "");
    {
        const Input<int> numbers(Small{});
        measure_scan(report, "i32", numbers, 0);
    }
    const Input<float> floats(Uniform{});
    measure_scan(report, "f32", floats, 1e-3);
    for (const int columns : ROW_LENGTHS) {
        measure_row_scans(report, floats, columns);
    }
    measure_select(report);
    measure_filtered_sum(report, floats);
    measure_mean_and_variance(report, floats);
    for (const int bits : BITS_OF_BINS) {
        measure_histogram(report, bits);
    }
    {
        const Input<int> words(Word{});
        measure_sort(report, "i32", words);
    }
    measure_sort(report, "f32", floats);
    measure_sort_by_key(report);
    return 0;
}
