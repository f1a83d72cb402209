// What a careful C programmer writes for scans, selections and histograms on a CPU.
//
// Build:  gcc -O3 -march=native -ffast-math -fopenmp irregular.c -lm -o irregular
// Run:    OMP_NUM_THREADS=2 ./irregular [part of a workload's name]
//
// Prints rows as cpu.c does, and checks and times in the same way. Each thread has one range of the input; where its
// results begin is known after a first pass over all ranges.
#include "common.h"

enum {
    LENGTH = 1 << 24,
    SIDE = 4096, // SIDE squared is LENGTH
    MOST_THREADS = 256,
    COPIES = 4, // of a small histogram, so that neighbours that are equal do not wait for each other
};

static float *floats, *float_output;
static int32_t *numbers, *words, *keys_8, *keys_16, *keys_20;
static int32_t *int_output, *bins;
static long selected;
static double results[2];

static void make_arrays(void) {
    const size_t bytes = (size_t)LENGTH * sizeof(int32_t);
    floats = allocate(bytes);
    float_output = allocate(bytes);
    numbers = allocate(bytes);
    words = allocate(bytes);
    keys_8 = allocate(bytes);
    keys_16 = allocate(bytes);
    keys_20 = allocate(bytes);
    int_output = allocate(bytes);
    bins = allocate((size_t)(1 << 20) * sizeof(int32_t));
#pragma omp parallel for
    for (long i = 0; i < LENGTH; i++) {
        const uint32_t hash = hash32((uint32_t)i);
        floats[i] = uniform((uint32_t)i, 0);
        float_output[i] = 0;
        numbers[i] = (int32_t)(hash >> 28); // their sums fit
        words[i] = (int32_t)hash;
        keys_8[i] = (int32_t)(hash >> 24);
        keys_16[i] = (int32_t)(hash >> 16);
        keys_20[i] = (int32_t)(hash >> 12);
        int_output[i] = 0;
    }
}

// ---------------------------------------------------------------------------------------------------------
// Workloads.

static long first_of(long thread, long threads) {
    return LENGTH * thread / threads;
}

static void run_scan_i32(void) {
    int32_t totals[MOST_THREADS] = {0};
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const long first = first_of(thread, threads), last = first_of(thread + 1, threads);
        int32_t total = 0;
        for (long i = first; i < last; i++) {
            total += numbers[i];
        }
        totals[thread] = total;
#pragma omp barrier
        int32_t sum = 0;
        for (long before = 0; before < thread; before++) {
            sum += totals[before];
        }
        for (long i = first; i < last; i++) {
            sum += numbers[i];
            int_output[i] = sum;
        }
    }
}

static void run_scan_f32(void) {
    float totals[MOST_THREADS] = {0};
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const long first = first_of(thread, threads), last = first_of(thread + 1, threads);
        float total = 0;
        for (long i = first; i < last; i++) {
            total += floats[i];
        }
        totals[thread] = total;
#pragma omp barrier
        float sum = 0;
        for (long before = 0; before < thread; before++) {
            sum += totals[before];
        }
        for (long i = first; i < last; i++) {
            sum += floats[i];
            float_output[i] = sum;
        }
    }
}

static void run_row_scans(void) {
#pragma omp parallel for
    for (long row = 0; row < SIDE; row++) {
        float sum = 0;
        for (long i = row * SIDE; i < (row + 1) * SIDE; i++) {
            sum += floats[i];
            float_output[i] = sum;
        }
    }
}

static void run_select(void) {
    long counts[MOST_THREADS] = {0};
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const long first = first_of(thread, threads), last = first_of(thread + 1, threads);
        long count = 0;
        for (long i = first; i < last; i++) {
            count += (words[i] & 3) == 0;
        }
        counts[thread] = count;
#pragma omp barrier
        long place = 0;
        for (long before = 0; before < thread; before++) {
            place += counts[before];
        }
        // Written whether it is wanted or not, without a branch, until the last that is wanted.
        const long end = place + count;
        for (long i = first; place < end; i++) {
            int_output[place] = words[i];
            place += (words[i] & 3) == 0;
        }
        if (thread == threads - 1) {
            selected = place;
        }
    }
}

static void run_filtered_sum(void) {
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < LENGTH; i++) {
        total += floats[i] < 0.25f ? floats[i] : 0;
    }
    results[0] = total;
}

static void run_mean_and_variance(void) {
    float sum = 0, squares = 0;
#pragma omp parallel for simd reduction(+ : sum, squares)
    for (long i = 0; i < LENGTH; i++) {
        sum += floats[i];
        squares += floats[i] * floats[i];
    }
    const float mean = sum / LENGTH;
    results[0] = mean;
    results[1] = squares / LENGTH - mean * mean;
}

static void run_histogram_8(void) {
    memset(bins, 0, 256 * sizeof(int32_t));
#pragma omp parallel
    {
        int32_t own[COPIES][256] = {{0}};
#pragma omp for
        for (long i = 0; i < LENGTH; i += COPIES) {
            for (int copy = 0; copy < COPIES; copy++) {
                own[copy][keys_8[i + copy]]++;
            }
        }
#pragma omp critical
        for (int bin = 0; bin < 256; bin++) {
            for (int copy = 0; copy < COPIES; copy++) {
                bins[bin] += own[copy][bin];
            }
        }
    }
}

static void histogram(const int32_t *restrict keys, long count) {
    memset(bins, 0, (size_t)count * sizeof(int32_t));
#pragma omp parallel
    {
        int32_t *own = allocate((size_t)count * sizeof(int32_t));
        memset(own, 0, (size_t)count * sizeof(int32_t));
#pragma omp for
        for (long i = 0; i < LENGTH; i++) {
            own[keys[i]]++;
        }
#pragma omp critical
        for (long bin = 0; bin < count; bin++) {
            bins[bin] += own[bin];
        }
        free(own);
    }
}

static void run_histogram_16(void) {
    histogram(keys_16, 1 << 16);
}

static void run_histogram_20(void) {
    histogram(keys_20, 1 << 20);
}

// ---------------------------------------------------------------------------------------------------------
// Checks: one thread, no cleverness.

static void check_scan_i32(const char *workload) {
    long sum = 0;
    for (long i = 0; i < LENGTH; i++) {
        sum += numbers[i];
        expect_close(workload, i, int_output[i], (double)sum, 0);
    }
}

static void check_scan_f32(const char *workload) {
    double sum = 0;
    for (long i = 0; i < LENGTH; i++) {
        sum += floats[i];
        expect_close(workload, i, float_output[i], sum, 1e-2);
    }
}

static void check_row_scans(const char *workload) {
    double sum = 0;
    for (long i = 0; i < LENGTH; i++) {
        sum = i % SIDE == 0 ? floats[i] : sum + floats[i];
        expect_close(workload, i, float_output[i], sum, 1e-4);
    }
}

static void check_select(const char *workload) {
    long place = 0;
    for (long i = 0; i < LENGTH; i++) {
        if ((words[i] & 3) == 0) {
            expect_close(workload, place, int_output[place], words[i], 0);
            place++;
        }
    }
    expect_close(workload, LENGTH, (double)selected, (double)place, 0);
}

static void check_filtered_sum(const char *workload) {
    double expected = 0;
    for (long i = 0; i < LENGTH; i++) {
        expected += floats[i] < 0.25f ? floats[i] : 0;
    }
    expect_close(workload, 0, results[0], expected, 1e-3);
}

static void check_mean_and_variance(const char *workload) {
    double sum = 0, squares = 0;
    for (long i = 0; i < LENGTH; i++) {
        sum += floats[i];
        squares += (double)floats[i] * floats[i];
    }
    const double mean = sum / LENGTH;
    expect_close(workload, 0, results[0], mean, 1e-3);
    expect_close(workload, 1, results[1], squares / LENGTH - mean * mean, 1e-3);
}

static void check_bins(const char *workload, const int32_t *keys, long count) {
    int32_t *expected = allocate((size_t)count * sizeof(int32_t));
    memset(expected, 0, (size_t)count * sizeof(int32_t));
    for (long i = 0; i < LENGTH; i++) {
        expected[keys[i]]++;
    }
    for (long bin = 0; bin < count; bin++) {
        expect_close(workload, bin, bins[bin], expected[bin], 0);
    }
    free(expected);
}

static void check_histogram_8(const char *workload) {
    check_bins(workload, keys_8, 1 << 8);
}

static void check_histogram_16(const char *workload) {
    check_bins(workload, keys_16, 1 << 16);
}

static void check_histogram_20(const char *workload) {
    check_bins(workload, keys_20, 1 << 20);
}

static const Benchmark BENCHMARKS[] = {
    {"prefix sums i32", "C, OpenMP", LENGTH, 8.0 * LENGTH, run_scan_i32, check_scan_i32},
    {"prefix sums f32", "C, OpenMP", LENGTH, 8.0 * LENGTH, run_scan_f32, check_scan_f32},
    {"row prefix sums f32 4096x4096", "C, OpenMP", LENGTH, 8.0 * LENGTH, run_row_scans, check_row_scans},
    {"select 1 in 4 i32", "C, OpenMP", LENGTH, 5.0 * LENGTH, run_select, check_select},
    {"filtered sum f32", "C, OpenMP", LENGTH, 4.0 * LENGTH, run_filtered_sum, check_filtered_sum},
    {"mean and variance f32", "C, OpenMP", LENGTH, 4.0 * LENGTH, run_mean_and_variance, check_mean_and_variance},
    {"bins i32 256", "C, OpenMP", LENGTH, 4.0 * LENGTH, run_histogram_8, check_histogram_8},
    {"bins i32 65536", "C, OpenMP", LENGTH, 4.0 * LENGTH, run_histogram_16, check_histogram_16},
    {"bins i32 1048576", "C, OpenMP", LENGTH, 4.0 * LENGTH, run_histogram_20, check_histogram_20},
};

int main(int argument_count, char **arguments) {
    const char *wanted = argument_count > 1 ? arguments[1] : "";
    fprintf(stderr, "irregular: C with %d OpenMP threads\n", omp_get_max_threads());
    make_arrays();
    measure(BENCHMARKS, sizeof BENCHMARKS / sizeof BENCHMARKS[0], wanted);
    return 0;
}
