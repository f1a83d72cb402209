// What a careful CUDA programmer, and cuSPARSE, make of irregular nested work on a GPU: expansions whose elements are counted
// at random targets, products of sparse matrices with a vector, sorts of rows, Pythagorean triples, primes, a breadth-first search.
//
// Build:  nvcc -O3 -std=c++17 -arch=native nested.cu -lcublas -lcusparse -o nested
// Run:    ./nested [part of a workload's name]
//
// Prints rows as cuda.cu does, and checks and times in the same way.
#include <algorithm>
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

// Lengths by a power law, for a random number.
static int power_law(std::uint32_t random) {
    return static_cast<int>(std::min(4096.0, 4.0 / (((random & 0xffff) + 1) / 65536.0)));
}

static void measure_sparse(Report &report, const char *kind) {
    const std::string name = std::string("smvm ") + kind;
    const bool band = name == "smvm band32", skewed = name == "smvm skewed";
    std::vector<int> offsets{0}, columns;
    std::uint32_t state = 12345;
    for (int row = 0; row < ROWS; row++) {
        state = hash32(state + row);
        const int length = band ? 32 : skewed ? (row % 1000 == 0 ? 16384 : 8) : power_law(state);
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

// -------------------------------------------------------------------------------------------------------------
// Primes below a limit: multiples of the primes below its root are struck out. As an expansion in equal shares, whose elements are
// written to flags in memory; and in segments of shared memory.

constexpr long long PRIMES_BELOW = 100'000'000;
constexpr int STRIKES = 8;
constexpr int SEGMENT = 32768;

__global__ void strike(const int *primes, const long long *offsets, int count, long long total, unsigned char *struck) {
    long long at = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * STRIKES;
    if (at >= total) {
        return;
    }
    int low = 0, high = count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (offsets[middle + 1] <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const long long end = min(at + STRIKES, total);
    for (; at < end; at++) {
        while (at >= offsets[low + 1]) {
            low++;
        }
        const long long p = primes[low];
        struck[p * (at - offsets[low] + p)] = 1;
    }
}

__device__ void add_counts(int own, unsigned long long *found) {
    for (int distance = 16; distance > 0; distance /= 2) {
        own += __shfl_down_sync(~0U, own, distance);
    }
    if (threadIdx.x % 32 == 0 && own != 0) {
        atomicAdd(found, static_cast<unsigned long long>(own));
    }
}

__global__ void count_unstruck(const unsigned char *struck, long long limit, unsigned long long *found) {
    int own = 0;
    const long long all = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = 2 + static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < limit; i += all) {
        own += struck[i] == 0;
    }
    add_counts(own, found);
}

__global__ void sieve_segments(const int *primes, int count, long long limit, unsigned long long *found) {
    __shared__ unsigned char struck[SEGMENT];
    int own = 0;
    for (long long base = static_cast<long long>(blockIdx.x) * SEGMENT; base < limit;
         base += static_cast<long long>(gridDim.x) * SEGMENT) {
        for (int i = threadIdx.x; i < SEGMENT / 4; i += blockDim.x) {
            reinterpret_cast<unsigned *>(struck)[i] = 0;
        }
        __syncthreads();
        for (int j = threadIdx.x / 32; j < count; j += blockDim.x / 32) {
            const long long p = primes[j];
            if (p * p >= base + SEGMENT) {
                break;
            }
            const long long first = max((base + p - 1) / p, p) * p - base;
            for (long long at = first + static_cast<long long>(threadIdx.x % 32) * p; at < SEGMENT; at += 32 * p) {
                struck[at] = 1;
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < SEGMENT; i += blockDim.x) {
            own += base + i >= 2 && base + i < limit && struck[i] == 0;
        }
        __syncthreads();
    }
    add_counts(own, found);
}

static void measure_primes(Report &report, unsigned busy_blocks) {
    std::vector<int> primes;
    std::vector<long long> offsets{0};
    for (int p = 2; static_cast<long long>(p) * p < PRIMES_BELOW; p++) {
        bool is_prime = true;
        for (const int q : primes) {
            is_prime &= p % q != 0;
        }
        if (is_prime) {
            primes.push_back(p);
            offsets.push_back(offsets.back() + (PRIMES_BELOW + p - 1) / p - p);
        }
    }
    const int count = static_cast<int>(primes.size());
    const long long total = offsets.back();
    const DeviceArray<int> device_primes(primes.size());
    const DeviceArray<long long> device_offsets(offsets.size());
    const DeviceArray<unsigned char> struck(PRIMES_BELOW);
    const DeviceArray<unsigned long long> found(1);
    CHECK(cudaMemcpy(device_primes.data(), primes.data(), primes.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_offsets.data(), offsets.data(), offsets.size() * 8, cudaMemcpyHostToDevice));
    const auto check = [&](const std::string &what) {
        expect_close(what, 0, static_cast<double>(found.to_host()[0]), 5761455, 0.0);
    };
    const std::string name = "primes below 100000000";
    report.measure(name, "hand CUDA, scattered", PRIMES_BELOW, PRIMES_BELOW / 2.0, [&] {
        CHECK(cudaMemsetAsync(struck.data(), 0, PRIMES_BELOW));
        CHECK(cudaMemsetAsync(found.data(), 0, sizeof(unsigned long long)));
        const long long threads = (total + STRIKES - 1) / STRIKES;
        strike<<<static_cast<unsigned>((threads + 255) / 256), 256>>>(device_primes.data(), device_offsets.data(), count,
                                                                      total, struck.data());
        count_unstruck<<<busy_blocks, 256>>>(struck.data(), PRIMES_BELOW, found.data());
    }, check);
    // The first is Pumice's program in the array language, the second the one in the kernel language.
    for (const std::string &same : {name, std::string("sieve")}) {
        report.measure(same, "hand CUDA, segments", PRIMES_BELOW, PRIMES_BELOW / 2.0, [&] {
            CHECK(cudaMemsetAsync(found.data(), 0, sizeof(unsigned long long)));
            sieve_segments<<<busy_blocks, 256>>>(device_primes.data(), count, PRIMES_BELOW, found.data());
        }, check);
    }
}

// -------------------------------------------------------------------------------------------------------------
// Breadth-first search from vertex 0 of a graph whose edges are drawn by R-MAT: a warp for each vertex of the frontier, and the host
// reads how many there are in the next one.

constexpr int SCALE = 20;
constexpr int EDGES_PER_VERTEX = 16;

__global__ void next_frontier(const int *offsets, const int *neighbours, const int *frontier, int count, int *parents,
                              int *next, int *next_count) {
    const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (warp >= count) {
        return;
    }
    const int u = frontier[warp];
    for (int at = offsets[u] + static_cast<int>(threadIdx.x % 32); at < offsets[u + 1]; at += 32) {
        const int v = neighbours[at];
        if (parents[v] < 0 && atomicCAS(&parents[v], -1, u) < 0) {
            next[atomicAdd(next_count, 1)] = v;
        }
    }
}

// The numbers of the generator that Pumice's graph is made of.
struct Numbers {
    std::uint64_t state;
    std::uint64_t below(std::uint64_t limit) {
        state += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        mixed ^= mixed >> 31;
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(mixed) * limit) >> 64);
    }
};

static void measure_search(Report &report) {
    const std::string name = "breadth-first R-MAT 20";
    if (!report.wants(name)) {
        return;
    }
    const int vertices = 1 << SCALE;
    Numbers numbers{1};
    std::vector<std::uint64_t> edges;
    for (long long edge = 0; edge < static_cast<long long>(vertices) * EDGES_PER_VERTEX; edge++) {
        std::uint64_t u = 0, v = 0;
        for (int bit = 0; bit < SCALE; bit++) {
            const std::uint64_t drawn = numbers.below(100);
            u = 2 * u + (drawn >= 76);
            v = 2 * v + ((drawn >= 57 && drawn < 76) || drawn >= 95);
        }
        if (u != v) {
            edges.push_back(u << 32 | v);
            edges.push_back(v << 32 | u);
        }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<int> offsets(vertices + 1), neighbours(edges.size());
    for (std::size_t i = 0; i < edges.size(); i++) {
        offsets[(edges[i] >> 32) + 1]++;
        neighbours[i] = static_cast<int>(edges[i] & 0xffffffff);
    }
    for (int v = 0; v < vertices; v++) {
        offsets[v + 1] += offsets[v];
    }
    std::vector<int> reached_first{0};
    std::vector<bool> is_reached(vertices);
    is_reached[0] = true;
    for (std::size_t i = 0; i < reached_first.size(); i++) {
        for (int at = offsets[reached_first[i]]; at < offsets[reached_first[i] + 1]; at++) {
            if (!is_reached[neighbours[at]]) {
                is_reached[neighbours[at]] = true;
                reached_first.push_back(neighbours[at]);
            }
        }
    }
    const DeviceArray<int> device_offsets(offsets.size()), device_neighbours(neighbours.size());
    const DeviceArray<int> first(vertices), second(vertices), parents(vertices), next_count(1);
    CHECK(cudaMemcpy(device_offsets.data(), offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_neighbours.data(), neighbours.data(), neighbours.size() * 4, cudaMemcpyHostToDevice));
    long long reached = 0;
    const auto run = [&] {
        CHECK(cudaMemsetAsync(parents.data(), 0xff, vertices * 4));
        CHECK(cudaMemsetAsync(first.data(), 0, 4));
        CHECK(cudaMemsetAsync(parents.data(), 0, 4));
        int count = 1;
        reached = 1;
        int *frontier = first.data(), *next = second.data();
        while (count > 0) {
            CHECK(cudaMemsetAsync(next_count.data(), 0, 4));
            next_frontier<<<static_cast<unsigned>((count * 32LL + 255) / 256), 256>>>(
                device_offsets.data(), device_neighbours.data(), frontier, count, parents.data(), next, next_count.data());
            CHECK(cudaMemcpy(&count, next_count.data(), 4, cudaMemcpyDeviceToHost));
            std::swap(frontier, next);
            reached += count;
        }
    };
    report.measure(name, "hand CUDA", vertices, 8.0 * vertices * EDGES_PER_VERTEX, run,
                   [&](const std::string &what) {
                       expect_close(what, 0, static_cast<double>(reached), static_cast<double>(reached_first.size()), 0.0);
                   });
}

// -------------------------------------------------------------------------------------------------------------
// Rows of different lengths, each sorted.

static void measure_row_sorts(Report &report, const char *kind) {
    const std::string name = std::string("rows sort ") + kind;
    if (!report.wants(name)) {
        return;
    }
    constexpr int ELEMENTS = 1 << 24;
    std::vector<int> values(ELEMENTS), offsets{0};
    for (int i = 0; i < ELEMENTS; i++) {
        values[i] = static_cast<int>(hash32(static_cast<std::uint32_t>(i)));
    }
    while (offsets.back() < ELEMENTS) {
        const std::uint32_t row = static_cast<std::uint32_t>(offsets.size() - 1);
        const int length = name == "rows sort equal32" ? 32 : power_law(hash32(row + 0x9e3779b9U));
        offsets.push_back(std::min(ELEMENTS, offsets.back() + length));
    }
    const int rows = static_cast<int>(offsets.size()) - 1;
    const DeviceArray<int> device_values(ELEMENTS), device_offsets(offsets.size()), sorted(ELEMENTS);
    CHECK(cudaMemcpy(device_values.data(), values.data(), values.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_offsets.data(), offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    const auto sort = [&](void *scratch) {
        CHECK(cub::DeviceSegmentedSort::SortKeys(scratch, bytes, device_values.data(), sorted.data(), ELEMENTS, rows,
                                                 device_offsets.data(), device_offsets.data() + 1));
    };
    sort(nullptr);
    const DeviceArray<unsigned char> scratch(bytes);
    report.measure(name, "CUB segmented sort", ELEMENTS, Work(8.0 * ELEMENTS), [&] { sort(scratch.data()); },
                   [&](const std::string &what) {
        const std::vector<int> found = sorted.to_host();
        for (int row = 0; row < rows; row += 101) {
            std::vector<int> expected(values.begin() + offsets[row], values.begin() + offsets[row + 1]);
            std::sort(expected.begin(), expected.end());
            for (std::size_t at = 0; at < expected.size(); at++) {
                expect_close(what, offsets[row] + at, found[offsets[row] + at], expected[at], 0);
            }
        }
    });
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
    for (const char *kind : {"equal32", "powerlaw"}) {
        measure_row_sorts(report, kind);
    }
    measure_triples(report);
    measure_primes(report, busy_blocks);
    measure_search(report);
}
