// What a careful C programmer writes for the workloads of `pumice bench` on a CPU.
//
// Build:  gcc -O3 -march=native -ffast-math -fopenmp cpu.c -lm -o cpu
// Run:    OMP_NUM_THREADS=2 ./cpu [part of a workload's name]
//
// Prints a JSON array of rows (see README.md) on stdout. Every result is checked against a plain reference
// before it is timed; a wrong one ends the program with a message on stderr. The loops use no intrinsics and
// no assembly: they are what Pumice's own C is compared with.
#include "common.h"

enum {
    VECTOR_LENGTH = 1 << 24,
    OPTION_COUNT = 1 << 22,
    MATRIX_SIDE = 4096,  // MATRIX_SIDE squared is VECTOR_LENGTH
    TRANSPOSE_TILE = 16, // floats in a cache line
    PICTURE_WIDTH = 2048,
    PICTURE_HEIGHT = 2048,
    PICTURE_SIZE = PICTURE_WIDTH * PICTURE_HEIGHT,
    ITERATION_CAP = 64,
    LANES = 16,
    ROWS_PER_TASK = 16,
};

static const float SAXPY_FACTOR = 2.5f;
static const float RISK_FREE_RATE = 0.02f;
static const float VOLATILITY = 0.3f;

// ---------------------------------------------------------------------------------------------------------
// Arrays. The workloads take no arguments so that one timer can run them all; these are their inputs and
// outputs.

static float *input_x, *input_y, *input_z;
static float *output, *call_prices, *put_prices;
static int32_t *counts;
static float scalar_result;

static void make_arrays(void) {
    const size_t vector_bytes = (size_t)VECTOR_LENGTH * sizeof(float);
    const size_t option_bytes = (size_t)OPTION_COUNT * sizeof(float);
    input_x = allocate(vector_bytes);
    input_y = allocate(vector_bytes);
    input_z = allocate(option_bytes);
    output = allocate(vector_bytes);
    call_prices = allocate(option_bytes);
    put_prices = allocate(option_bytes);
    counts = allocate((size_t)PICTURE_SIZE * sizeof(int32_t));
    // In parallel, so that each page lies near the thread that will use it.
#pragma omp parallel for
    for (long i = 0; i < VECTOR_LENGTH; i++) {
        input_x[i] = uniform((uint32_t)i, 0);
        input_y[i] = uniform((uint32_t)i, 1);
        output[i] = 0;
    }
#pragma omp parallel for
    for (long i = 0; i < OPTION_COUNT; i++) {
        input_z[i] = uniform((uint32_t)i, 2);
        call_prices[i] = 0;
        put_prices[i] = 0;
    }
#pragma omp parallel for
    for (long i = 0; i < PICTURE_SIZE; i++) {
        counts[i] = -1;
    }
}

// ---------------------------------------------------------------------------------------------------------
// Workloads.

static void run_copy(void) {
#pragma omp parallel
    {
        const size_t threads = (size_t)omp_get_num_threads();
        const size_t thread = (size_t)omp_get_thread_num();
        const size_t first = VECTOR_LENGTH * thread / threads;
        const size_t last = VECTOR_LENGTH * (thread + 1) / threads;
        memcpy(output + first, input_x + first, (last - first) * sizeof(float));
    }
}

static void saxpy(float a, const float *restrict x, const float *restrict y, float *restrict z, long n) {
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        z[i] = a * x[i] + y[i];
    }
}

static void run_saxpy(void) {
    saxpy(SAXPY_FACTOR, input_x, input_y, output, VECTOR_LENGTH);
}

static float dot(const float *restrict x, const float *restrict y, long n) {
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < n; i++) {
        total += x[i] * y[i];
    }
    return total;
}

static void run_dot(void) {
    scalar_result = dot(input_x, input_y, VECTOR_LENGTH);
}

static float sum(const float *restrict x, long n) {
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < n; i++) {
        total += x[i];
    }
    return total;
}

static void run_sum(void) {
    scalar_result = sum(input_x, VECTOR_LENGTH);
}

static void row_sums(const float *restrict matrix, float *restrict sums, long rows, long columns) {
#pragma omp parallel for
    for (long row = 0; row < rows; row++) {
        const float *restrict values = matrix + row * columns;
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (long column = 0; column < columns; column++) {
            total += values[column];
        }
        sums[row] = total;
    }
}

static void run_row_sums(void) {
    row_sums(input_x, output, MATRIX_SIDE, MATRIX_SIDE);
}

// These two compute more than they load: the widest vectors pay, and gcc would otherwise choose half of them.
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#pragma GCC push_options
#pragma GCC target("prefer-vector-width=512")
#endif

// The cumulative normal distribution, by the polynomial of Abramowitz and Stegun, 26.2.17.
static inline float cumulative_normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float polynomial =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1.0f - tail : tail;
}

static void black_scholes(const float *restrict x, const float *restrict y, const float *restrict z,
                          float *restrict call, float *restrict put, long n) {
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        const float price = x[i] * 25.0f + 5.0f;
        const float strike = y[i] * 99.0f + 1.0f;
        const float years = z[i] * 9.75f + 0.25f;
        const float deviation = VOLATILITY * sqrtf(years);
        const float drift = RISK_FREE_RATE + 0.5f * VOLATILITY * VOLATILITY;
        const float d1 = (logf(price / strike) + drift * years) / deviation;
        const float d2 = d1 - deviation;
        const float normal1 = cumulative_normal(d1);
        const float normal2 = cumulative_normal(d2);
        const float discounted = strike * expf(-RISK_FREE_RATE * years);
        call[i] = price * normal1 - discounted * normal2;
        put[i] = discounted * (1.0f - normal2) - price * (1.0f - normal1);
    }
}

static void run_black_scholes(void) {
    black_scholes(input_x, input_y, input_z, call_prices, put_prices, OPTION_COUNT);
}

// Points that leave the picture become infinities and NaN, which must compare as they should, fast maths or
// not.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-finite-math-only")
#endif

static inline float picture_x(int column) {
    return -2.0f + 3.0f * (float)column / PICTURE_WIDTH;
}
static inline float picture_y(int row) {
    return -1.0f + 2.0f * (float)row / PICTURE_HEIGHT;
}

static inline int32_t iterations_of_point(float cx, float cy) {
    float x = 0, y = 0;
    int32_t count = 0;
    while (count < ITERATION_CAP && x * x + y * y <= 4.0f) {
        const float next_x = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next_x;
        count++;
    }
    return count;
}

static void run_mandelbrot_branch(void) {
#pragma omp parallel for schedule(dynamic, ROWS_PER_TASK)
    for (int row = 0; row < PICTURE_HEIGHT; row++) {
        for (int column = 0; column < PICTURE_WIDTH; column++) {
            counts[row * PICTURE_WIDTH + column] = iterations_of_point(picture_x(column), picture_y(row));
        }
    }
}

// The points of one vector go on together until none of them is inside any more. A point that has left keeps
// computing (it overflows to infinity or NaN, neither of which is ever <= 4 again); only its count stands
// still.
static inline void iterations_of_lanes(const float *restrict cx, float cy, int32_t *restrict result) {
    float x[LANES] = {0}, y[LANES] = {0};
    int32_t count[LANES] = {0};
    for (int iteration = 0; iteration < ITERATION_CAP; iteration++) {
        int32_t any_inside = 0;
        for (int lane = 0; lane < LANES; lane++) {
            const float xx = x[lane] * x[lane];
            const float yy = y[lane] * y[lane];
            const int32_t inside = xx + yy <= 4.0f;
            count[lane] += inside;
            any_inside |= inside;
            y[lane] = 2.0f * x[lane] * y[lane] + cy;
            x[lane] = xx - yy + cx[lane];
        }
        if (!any_inside) {
            break;
        }
    }
    memcpy(result, count, sizeof count);
}

static void run_mandelbrot_lanes(void) {
#pragma omp parallel for schedule(dynamic, ROWS_PER_TASK)
    for (int row = 0; row < PICTURE_HEIGHT; row++) {
        for (int column = 0; column < PICTURE_WIDTH; column += LANES) {
            float cx[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                cx[lane] = picture_x(column + lane);
            }
            iterations_of_lanes(cx, picture_y(row), counts + row * PICTURE_WIDTH + column);
        }
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#pragma GCC pop_options
#endif

// A tile goes through a small buffer: rows of a matrix whose side is a power of two all fall into the same
// few sets of the cache, so every line is to be read once and written once, whole.
static inline void transpose_tile(const float *restrict source, float *restrict target, long side) {
    float tile[TRANSPOSE_TILE][TRANSPOSE_TILE];
    for (int row = 0; row < TRANSPOSE_TILE; row++) {
        memcpy(tile[row], source + row * side, sizeof tile[row]);
    }
    for (int row = 0; row < TRANSPOSE_TILE; row++) {
        for (int column = 0; column < TRANSPOSE_TILE; column++) {
            target[row * side + column] = tile[column][row];
        }
    }
}

static void transpose(const float *restrict matrix, float *restrict transposed, long side) {
#pragma omp parallel for collapse(2)
    for (long row = 0; row < side; row += TRANSPOSE_TILE) {
        for (long column = 0; column < side; column += TRANSPOSE_TILE) {
            transpose_tile(matrix + row * side + column, transposed + column * side + row, side);
        }
    }
}

static void run_transpose(void) {
    transpose(input_x, output, MATRIX_SIDE);
}

// ---------------------------------------------------------------------------------------------------------
// Checks: double precision, one thread, no cleverness.

static void check_copy(const char *workload) {
    for (long i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
        expect_close(workload, i, output[i], input_x[i], 0);
    }
}

static void check_saxpy(const char *workload) {
    for (long i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
        expect_close(workload, i, output[i], (double)SAXPY_FACTOR * input_x[i] + input_y[i], 1e-6);
    }
}

static void check_dot(const char *workload) {
    double expected = 0;
    for (long i = 0; i < VECTOR_LENGTH; i++) {
        expected += (double)input_x[i] * input_y[i];
    }
    expect_close(workload, 0, scalar_result, expected, 1e-3);
}

static void check_sum(const char *workload) {
    double expected = 0;
    for (long i = 0; i < VECTOR_LENGTH; i++) {
        expected += input_x[i];
    }
    expect_close(workload, 0, scalar_result, expected, 1e-3);
}

static void check_row_sums(const char *workload) {
    for (long row = 0; row < MATRIX_SIDE; row++) {
        double expected = 0;
        for (long column = 0; column < MATRIX_SIDE; column++) {
            expected += input_x[row * MATRIX_SIDE + column];
        }
        expect_close(workload, row, output[row], expected, 1e-5);
    }
}

static void check_transpose(const char *workload) {
    for (long i = 0; i < VECTOR_LENGTH; i += SAMPLE_STRIDE) {
        const long row = i / MATRIX_SIDE, column = i % MATRIX_SIDE;
        expect_close(workload, i, output[column * MATRIX_SIDE + row], input_x[i], 0);
    }
}

static double reference_normal(double d) {
    return 0.5 * erfc(-d / sqrt(2.0));
}

static void check_black_scholes(const char *workload) {
    const double rate = RISK_FREE_RATE, volatility = VOLATILITY;
    for (long i = 0; i < OPTION_COUNT; i += SAMPLE_STRIDE) {
        const double price = input_x[i] * 25.0 + 5.0;
        const double strike = input_y[i] * 99.0 + 1.0;
        const double years = input_z[i] * 9.75 + 0.25;
        const double deviation = volatility * sqrt(years);
        const double d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation;
        const double d2 = d1 - deviation;
        const double discounted = strike * exp(-rate * years);
        const double call = price * reference_normal(d1) - discounted * reference_normal(d2);
        const double put = discounted * reference_normal(-d2) - price * reference_normal(-d1);
        // The polynomial itself is good to 7.5e-8, prices go up to 100.
        expect_close(workload, i, call_prices[i], call, 5e-5);
        expect_close(workload, i, put_prices[i], put, 5e-5);
    }
}

// Fast maths rounds differently, and a point near the set's edge answers a last-bit difference with another
// count; hence a share of points and not a difference for each.
static void check_mandelbrot(const char *workload) {
    long samples = 0, different = 0;
    for (long i = 0; i < PICTURE_SIZE; i += SAMPLE_STRIDE) {
        const double cx = -2.0 + 3.0 * (double)(i % PICTURE_WIDTH) / PICTURE_WIDTH;
        const double cy = -1.0 + 2.0 * (double)(i / PICTURE_WIDTH) / PICTURE_HEIGHT;
        double x = 0, y = 0;
        int32_t expected = 0;
        while (expected < ITERATION_CAP && x * x + y * y <= 4.0) {
            const double next_x = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = next_x;
            expected++;
        }
        samples++;
        different += counts[i] != expected;
    }
    if (different * 200 > samples) {
        fprintf(stderr, "cpu: %s: %ld of %ld sampled counts are wrong\n", workload, different, samples);
        exit(1);
    }
}

// ---------------------------------------------------------------------------------------------------------
// What is measured.

static const Benchmark BENCHMARKS[] = {
    {"copy f32", "C, OpenMP", VECTOR_LENGTH, 8.0 * VECTOR_LENGTH, run_copy, check_copy},
    {"saxpy f32", "C, OpenMP", VECTOR_LENGTH, 12.0 * VECTOR_LENGTH, run_saxpy, check_saxpy},
    {"dot f32", "C, OpenMP", VECTOR_LENGTH, 8.0 * VECTOR_LENGTH, run_dot, check_dot},
    {"sum f32", "C, OpenMP", VECTOR_LENGTH, 4.0 * VECTOR_LENGTH, run_sum, check_sum},
    {"row sums f32 4096x4096", "C, OpenMP", VECTOR_LENGTH, 4.0 * (VECTOR_LENGTH + MATRIX_SIDE), run_row_sums,
     check_row_sums},
    {"black-scholes f32", "C, OpenMP", OPTION_COUNT, 20.0 * OPTION_COUNT, run_black_scholes,
     check_black_scholes},
    {"mandelbrot 2048x2048 cap 64", "C, OpenMP", PICTURE_SIZE, 4.0 * PICTURE_SIZE, run_mandelbrot_branch,
     check_mandelbrot},
    {"mandelbrot 2048x2048 cap 64", "C, OpenMP, lanes", PICTURE_SIZE, 4.0 * PICTURE_SIZE,
     run_mandelbrot_lanes, check_mandelbrot},
    {"transpose f32 4096x4096", "C, OpenMP", VECTOR_LENGTH, 8.0 * VECTOR_LENGTH, run_transpose,
     check_transpose},
};

int main(int argument_count, char **arguments) {
    const char *wanted = argument_count > 1 ? arguments[1] : "";
    fprintf(stderr, "cpu: C with %d OpenMP threads\n", omp_get_max_threads());
    make_arrays();
    measure(BENCHMARKS, sizeof BENCHMARKS / sizeof BENCHMARKS[0], wanted);
    return 0;
}
