// What a C++ programmer has at hand for sorts on a CPU: the standard library's, in its parallel mode.
//
// Build:  g++ -O3 -march=native -fopenmp sorting.cpp -o sorting
// Run:    OMP_NUM_THREADS=2 ./sorting [part of a workload's name]
//
// Prints rows as cpu.c does, and checks and times in the same way. A sort begins with a copy: the input must stay.
#include "common.h"

#include <algorithm>
#include <parallel/algorithm>
#include <utility>
#include <vector>

static const long LENGTH = 1L << 24;

static std::vector<int32_t> words, sorted_words;
static std::vector<float> floats, sorted_floats;
static std::vector<std::pair<uint32_t, uint32_t>> pairs, sorted_pairs;

static void run_words() {
    sorted_words = words;
    __gnu_parallel::sort(sorted_words.begin(), sorted_words.end());
}

static void run_floats() {
    sorted_floats = floats;
    __gnu_parallel::sort(sorted_floats.begin(), sorted_floats.end());
}

static void run_pairs() {
    const auto by_key = [](const auto &a, const auto &b) { return a.first < b.first; };
    sorted_pairs = pairs;
    __gnu_parallel::stable_sort(sorted_pairs.begin(), sorted_pairs.end(), by_key);
}

template <typename T> static void expect_sorted(const char *workload, std::vector<T> expected, const std::vector<T> &got) {
    std::sort(expected.begin(), expected.end());
    expect_close(workload, 0, got == expected, 1, 0);
}

static void check_words(const char *workload) { expect_sorted(workload, words, sorted_words); }
static void check_floats(const char *workload) { expect_sorted(workload, floats, sorted_floats); }
static void check_pairs(const char *workload) { expect_sorted(workload, pairs, sorted_pairs); }

static const Benchmark BENCHMARKS[] = {
    {"sort i32", "C++, parallel mode", LENGTH, 8.0 * LENGTH, run_words, check_words},
    {"sort f32", "C++, parallel mode", LENGTH, 8.0 * LENGTH, run_floats, check_floats},
    {"sort by key (u32, u32)", "C++, parallel mode", LENGTH, 16.0 * LENGTH, run_pairs, check_pairs},
};

int main(int argument_count, char **arguments) {
    for (long i = 0; i < LENGTH; i++) {
        const uint32_t hash = hash32(static_cast<uint32_t>(i));
        words.push_back(static_cast<int32_t>(hash));
        floats.push_back(uniform(static_cast<uint32_t>(i), 0));
        pairs.emplace_back(hash, static_cast<uint32_t>(i));
    }
    measure(BENCHMARKS, sizeof BENCHMARKS / sizeof BENCHMARKS[0], argument_count > 1 ? arguments[1] : "");
    return 0;
}
