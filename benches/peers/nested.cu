// What a careful CUDA programmer, and cuSPARSE, make of irregular nested work on a GPU: expansions whose elements are counted
// at random targets, products of sparse matrices with a vector, Pythagorean triples.
//
// Build:  nvcc -O3 -std=c++17 -arch=native nested.cu -lcublas -lcusparse -o nested
// Run:    ./nested [part of a workload's name]
//
// Prints rows as cuda.cu does, and checks and times in the same way.
#include <cub/cub.cuh>
#include <cusparse.h>

#include "common.cuh"

static void require(cusparseStatus_t status, const char *call, int line) {
    if (status != CUSPARSE_STATUS_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: cuSPARSE status %d\n", line, call, static_cast<int>(status));
        std::exit(1);
    }
}

// -------------------------------------------------------------------------------------------------------------
// Expansions: source i has size[i] elements, each of which goes to one of TARGETS targets, or nowhere.

constexpr int TARGETS = 1000;
constexpr int ITEMS = 8;
constexpr int RESIDENT = 8;
constexpr long long MOST = 900'000'000;

__host__ __device__ inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
}

// The target of an element, or -1. `kept` of 1024 elements have one.
__host__ __device__ inline int target_of(std::uint32_t source, std::uint32_t number, int kept) {
    const std::uint64_t h = mix((static_cast<std::uint64_t>(source) << 32 | number) + 0x9e3779b97f4a7c15ULL);
    const bool goes = static_cast<int>(h & 1023) < kept;
    return goes ? static_cast<int>(static_cast<std::uint32_t>(h >> 32) % TARGETS) : -1;
}

struct Distribution {
    const char *name;
    unsigned percent, low, high, other_low, other_high;
    int kept;
};

constexpr Distribution DISTRIBUTIONS[] = {
    {"(100% 0-10)->R", 100, 0, 10, 0, 0, 1024},
    {"(100% 0-100)->R", 100, 0, 100, 0, 0, 1024},
    {"(100% 1000-3000)->R", 100, 1000, 3000, 0, 0, 1024},
    {"(75% 1-1; 25% 0-0)->R", 75, 1, 1, 0, 0, 1024},
    {"(90% 0-10; 10% 3000-3500)->R", 90, 0, 10, 3000, 3500, 1024},
    {"(90% 0-10; 10% 3000-3500)->0.75R+0.25N", 90, 0, 10, 3000, 3500, 768},
    {"(100% 0-10)->0.01R+0.99N", 100, 0, 10, 0, 0, 10},
};

static int size_of(const Distribution &d, std::uint32_t source) {
    const std::uint32_t choice = hash32(source * 2 + 1);
    const std::uint32_t g = hash32(source * 2 + 7);
    const bool first = choice % 100 < d.percent;
    const unsigned low = first ? d.low : d.other_low;
    const unsigned high = first ? d.high : d.other_high;
    return static_cast<int>(low + g % (high - low + 1));
}

__global__ void count_by_threads(const int *sizes, int sources, int *counts, int kept) {
    const int source = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (source >= sources) {
        return;
    }
    const int size = sizes[source];
    for (int number = 0; number < size; number++) {
        const int target = target_of(source, number, kept);
        if (target >= 0) {
            atomicAdd(&counts[target], 1);
        }
    }
}

// The source of an element: the last one from `low` to below `high` that does not begin behind it.
__device__ inline int source_of(const int *begins, int low, int high, int element) {
    while (low < high) {
        const int middle = (low + high) / 2;
        if (begins[middle] <= element) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

__global__ void expand(const int *begins, int sources, int total, int *targets, int kept) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element < total) {
        const int source = source_of(begins, 0, sources + 1, element);
        targets[element] = target_of(source, element - begins[source], kept);
    }
}

__global__ void count(const int *targets, int total, int *counts) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element < total && targets[element] >= 0) {
        atomicAdd(&counts[targets[element]], 1);
    }
}

// Every block takes equal shares of the elements, finds their sources once, and counts in shared memory.
__global__ void count_balanced(const int *begins, int sources, int total, int *counts, int kept) {
    __shared__ int table[TARGETS];
    __shared__ int first, last;
    for (int target = threadIdx.x; target < TARGETS; target += BLOCK) {
        table[target] = 0;
    }
    constexpr int SHARE = BLOCK * ITEMS;
    for (long long base = static_cast<long long>(blockIdx.x) * SHARE; base < total;
         base += static_cast<long long>(gridDim.x) * SHARE) {
        const int end = static_cast<int>(min(base + SHARE, static_cast<long long>(total)));
        __syncthreads();
        if (threadIdx.x == 0) {
            first = source_of(begins, 0, sources + 1, static_cast<int>(base));
        } else if (threadIdx.x == 32) {
            last = source_of(begins, 0, sources + 1, end - 1);
        }
        __syncthreads();
        int element = static_cast<int>(base) + static_cast<int>(threadIdx.x) * ITEMS;
        const int stop = min(element + ITEMS, end);
        if (element < stop) {
            int source = source_of(begins, first, last + 2, element);
            int next = begins[source + 1];
            for (; element < stop; element++) {
                while (element >= next) {
                    next = begins[++source + 1];
                }
                const int target = target_of(source, element - begins[source], kept);
                if (target >= 0) {
                    atomicAdd(&table[target], 1);
                }
            }
        }
    }
    __syncthreads();
    for (int target = threadIdx.x; target < TARGETS; target += BLOCK) {
        if (table[target] != 0) {
            atomicAdd(&counts[target], table[target]);
        }
    }
}

static void measure_expansion(Report &report, const Distribution &d, int sources, unsigned busy_blocks) {
    std::vector<int> host(sources);
    long long sum = 0;
    for (int source = 0; source < sources; source++) {
        host[source] = size_of(d, source);
        sum += host[source];
    }
    if (sum > MOST) {
        return;
    }
    const int total = static_cast<int>(sum);
    std::vector<int> expected(TARGETS);
    for (int source = 0; source < sources; source++) {
        for (int number = 0; number < host[source]; number++) {
            const int target = target_of(source, number, d.kept);
            if (target >= 0) {
                expected[target]++;
            }
        }
    }
    const DeviceArray<int> sizes(sources), begins(sources + 1), targets(total), counts(TARGETS);
    CHECK(cudaMemcpy(sizes.data(), host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    std::size_t scratch_bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, scratch_bytes, sizes.data(), begins.data() + 1, sources));
    const DeviceArray<unsigned char> scratch(scratch_bytes);
    const auto clear = [&] { CHECK(cudaMemsetAsync(counts.data(), 0, TARGETS * sizeof(int))); };
    const auto scan = [&] {
        CHECK(cudaMemsetAsync(begins.data(), 0, sizeof(int)));
        CHECK(cub::DeviceScan::InclusiveSum(scratch.data(), scratch_bytes, sizes.data(), begins.data() + 1, sources));
    };
    const auto check = [&](const std::string &what) {
        const std::vector<int> found = counts.to_host();
        for (int target = 0; target < TARGETS; target++) {
            expect_close(what, target, found[target], expected[target], 0.0);
        }
    };
    const std::string name = std::string("expand ") + d.name;
    const Work work(4.0 * sources + 4.0 * TARGETS);
    report.measure(name, "hand CUDA, unfused", sources, work, [&] {
        clear();
        scan();
        expand<<<blocks_for(total), BLOCK>>>(begins.data(), sources, total, targets.data(), d.kept);
        count<<<blocks_for(total), BLOCK>>>(targets.data(), total, counts.data());
    }, check);
    report.measure(name, "hand CUDA, a source per thread", sources, work, [&] {
        clear();
        count_by_threads<<<blocks_for(sources), BLOCK>>>(sizes.data(), sources, counts.data(), d.kept);
    }, check);
    report.measure(name, "hand CUDA, balanced, tables", sources, work, [&] {
        clear();
        scan();
        count_balanced<<<busy_blocks, BLOCK>>>(begins.data(), sources, total, counts.data(), d.kept);
    }, check);
}

// -------------------------------------------------------------------------------------------------------------
// Sparse matrices.

constexpr int ROWS = 1 << 20;

static void measure_sparse(Report &report, const char *kind) {
    const std::string name = std::string("smvm ") + kind;
    const bool band = name == "smvm band32", skewed = name == "smvm skewed";
    std::vector<int> offsets{0}, columns;
    std::uint32_t state = 12345;
    for (int row = 0; row < ROWS; row++) {
        state = hash32(state + row);
        const double drawn = ((state & 0xffff) + 1) / 65536.0;
        const int length = band ? 32 : skewed ? (row % 1000 == 0 ? 16384 : 8)
                                              : static_cast<int>(std::min(4096.0, 4.0 / drawn));
        for (int place = 0; place < length; place++) {
            state = hash32(state + place);
            columns.push_back(band ? std::min(ROWS - 1, std::max(0, row + place - 16)) : state % ROWS);
        }
        offsets.push_back(static_cast<int>(columns.size()));
    }
    const std::size_t entries = columns.size();
    std::vector<float> values(entries), xs(ROWS);
    for (std::size_t i = 0; i < entries; i++) {
        values[i] = uniform(static_cast<std::uint32_t>(i), 1);
    }
    for (int i = 0; i < ROWS; i++) {
        xs[i] = uniform(i, 0);
    }
    const DeviceArray<int> device_offsets(ROWS + 1), device_columns(entries);
    const DeviceArray<float> device_values(entries), device_xs(ROWS), result(ROWS);
    CHECK(cudaMemcpy(device_offsets.data(), offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_columns.data(), columns.data(), entries * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_values.data(), values.data(), entries * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_xs.data(), xs.data(), ROWS * 4, cudaMemcpyHostToDevice));
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    CHECK(cusparseCreate(&handle));
    CHECK(cusparseCreateCsr(&matrix, ROWS, ROWS, static_cast<long long>(entries), device_offsets.data(),
                            device_columns.data(), device_values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&x, ROWS, device_xs.data(), CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&y, ROWS, result.data(), CUDA_R_32F));
    const float one = 1, zero = 0;
    std::size_t bytes = 0;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    CHECK(cusparseSpMV_bufferSize(handle, plain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    const DeviceArray<unsigned char> scratch(bytes);
    const auto check = [&](const std::string &what) {
        const std::vector<float> found = result.to_host();
        for (int row = 0; row < ROWS; row += 1009) {
            double sum = 0;
            for (int at = offsets[row]; at < offsets[row + 1]; at++) {
                sum += static_cast<double>(values[at]) * xs[columns[at]];
            }
            expect_close(what, row, found[row], sum, 1e-4);
        }
    };
    const auto run = [&] {
        CHECK(cusparseSpMV(handle, plain, &one, matrix, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, scratch.data()));
    };
    report.measure(name, "cuSPARSE", ROWS, 8.0 * entries + 16.0 * ROWS, run, check);
    CHECK(cusparseDestroyDnVec(y));
    CHECK(cusparseDestroyDnVec(x));
    CHECK(cusparseDestroySpMat(matrix));
    CHECK(cusparseDestroy(handle));
}

// -------------------------------------------------------------------------------------------------------------
// Pythagorean triples x <= y <= z below a limit: a thread for each x and y.

constexpr int LIMIT = 1000;

__global__ void count_triples(int limit, unsigned long long *found) {
    const int x = static_cast<int>(blockIdx.y) + 1;
    const int y = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + x;
    int own = 0;
    if (y < limit) {
        const int squares = x * x + y * y;
        for (int z = y; z < limit; z++) {
            own += z * z == squares;
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        own += __shfl_down_sync(~0U, own, distance);
    }
    if (threadIdx.x % 32 == 0 && own != 0) {
        atomicAdd(found, static_cast<unsigned long long>(own));
    }
}

static void measure_triples(Report &report) {
    const DeviceArray<unsigned long long> found(1);
    report.measure("triples below 1000", "hand CUDA", LIMIT, 8.0, [&] {
        CHECK(cudaMemsetAsync(found.data(), 0, sizeof(unsigned long long)));
        count_triples<<<dim3((LIMIT + 127) / 128, LIMIT - 1), 128>>>(LIMIT, found.data());
    }, [&](const std::string &what) { expect_close(what, 0, static_cast<double>(found.to_host()[0]), 878, 0.0); });
}

int main(int argc, char **argv) {
    Report report(argc > 1 ? argv[1] : "");
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const unsigned busy_blocks = static_cast<unsigned>(properties.multiProcessorCount) * RESIDENT;
    for (const int sources : {200'000, 10'000'000}) {
        for (const Distribution &distribution : DISTRIBUTIONS) {
            measure_expansion(report, distribution, sources, busy_blocks);
        }
    }
    for (const char *kind : {"band32", "powerlaw", "skewed"}) {
        measure_sparse(report, kind);
    }
    measure_triples(report);
}
