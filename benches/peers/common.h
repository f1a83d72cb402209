// What the C peers share: memory, inputs, checks, timing, rows. Measures nothing itself.
#pragma once

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_STRIDE = 1009, // a prime, so that samples fall on every position within a tile or a vector
    MAX_REPETITIONS = 101,
};

// ---------------------------------------------------------------------------------------------------------
// Memory and inputs.

static void *allocate(size_t bytes) {
    void *memory = aligned_alloc(64, bytes);
    if (memory == NULL) {
        fprintf(stderr, "cpu: cannot allocate %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

// Uniform in [0, 1); the same numbers in every peer program.
static float uniform(uint32_t index, uint32_t stream) {
    return (float)(hash32(index + stream * 0x9e3779b9U) >> 8) * (1.0f / 16777216.0f);
}

// ---------------------------------------------------------------------------------------------------------
// Checks.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-finite-math-only")
#endif

static void expect_close(const char *workload, long index, double got, double expected, double tolerance) {
    const double allowed = tolerance * (1.0 + fabs(expected));
    // Negated, so that a NaN fails too.
    if (!(fabs(got - expected) <= allowed)) {
        fprintf(stderr, "cpu: %s: element %ld is %.9g, expected %.9g\n", workload, index, got, expected);
        exit(1);
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

// ---------------------------------------------------------------------------------------------------------
// Timing and output.

typedef struct {
    const char *workload;
    const char *implementation;
    long elements;
    double fewest_bytes;
    void (*run)(void);
    void (*check)(const char *workload);
} Benchmark;

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double time_once_ms(void (*run)(void)) {
    const double start = omp_get_wtime();
    run();
    return (omp_get_wtime() - start) * 1e3;
}

// As many repetitions as fit into about a second, but always enough for a median to mean something.
static int repetitions_for(double once_ms) {
    const double fitting = 1000.0 / (once_ms + 1e-3);
    if (fitting < 7) {
        return 7;
    }
    return fitting > MAX_REPETITIONS ? MAX_REPETITIONS : (int)fitting;
}

static double median_ms(void (*run)(void)) {
    double times[MAX_REPETITIONS];
    run();
    const int repetitions = repetitions_for(time_once_ms(run));
    for (int i = 0; i < repetitions; i++) {
        times[i] = time_once_ms(run);
    }
    qsort(times, (size_t)repetitions, sizeof times[0], compare_doubles);
    return times[repetitions / 2];
}

static void print_row(const Benchmark *benchmark, double milliseconds, bool is_first) {
    printf("%s\n  {\"workload\": \"%s\", \"device\": \"cpu\", \"implementation\": \"%s\", \"n\": %ld, "
           "\"median_ms\": %.6f, \"fewest_bytes\": %.0f}",
           is_first ? "" : ",", benchmark->workload, benchmark->implementation, benchmark->elements,
           milliseconds, benchmark->fewest_bytes);
    fflush(stdout);
}

// Checks and measures the benchmarks whose names contain `wanted`, and prints their rows.
static void measure(const Benchmark *benchmarks, size_t count, const char *wanted) {
    bool is_first = true;
    printf("[");
    for (size_t i = 0; i < count; i++) {
        const Benchmark *benchmark = &benchmarks[i];
        if (strstr(benchmark->workload, wanted) == NULL) {
            continue;
        }
        benchmark->run();
        benchmark->check(benchmark->workload);
        print_row(benchmark, median_ms(benchmark->run), is_first);
        is_first = false;
    }
    printf("\n]\n");
}
