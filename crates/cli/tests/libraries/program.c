/* Calls two libraries that were built of .pum files, as a user of C would. Ends with 0 and prints `all right` if everything is as it should be. */

#include "linear.h"
#include "second.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            char *error = linear_context_error(context);                                                               \
            printf("line %d: %s (%s)\n", __LINE__, #condition, error ? error : "no error");                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void dotp(struct linear_context *context) {
    const double xs[] = {1, 2, 3}, ys[] = {4, 5, 6};
    struct linear_f64_1d *a = linear_new_f64_1d(context, xs, 3), *b = linear_new_f64_1d(context, ys, 3);
    struct linear_f64_1d *shorter = linear_new_f64_1d(context, ys, 2);
    double product = 0;
    CHECK(a && b && shorter);
    CHECK(linear_dotp(context, &product, a, b) == LINEAR_OK && product == 32);
    CHECK(linear_dotp(context, &product, a, shorter) == LINEAR_INVALID);
    char *error = linear_context_error(context);
    CHECK(error && strstr(error, "`ys` has the extent 2 in dimension 0, and should have 3, as `xs` has"));
    free(error);
    CHECK(linear_context_error(context) == NULL);
    CHECK(linear_dotp(context, &product, a, NULL) == LINEAR_INVALID);
    CHECK(linear_dotp(context, NULL, a, b) == LINEAR_INVALID);
    free(linear_context_error(context));
    linear_free_f64_1d(context, a);
    linear_free_f64_1d(context, b);
    linear_free_f64_1d(context, shorter);
}

static void turned(struct linear_context *context) {
    int32_t xs[1000], back[1000];
    int64_t shape[1];
    for (int i = 0; i < 1000; i++) xs[i] = i;
    struct linear_i32_1d *array = linear_new_i32_1d(context, xs, 1000), *once, *twice;
    /* The result of a call is the argument of the next, and stays on the device meanwhile. */
    CHECK(linear_turned(context, &once, 100, array) == LINEAR_OK);
    CHECK(linear_turned(context, &twice, 100, once) == LINEAR_OK);
    CHECK(linear_shape_i32_1d(context, once, shape) == LINEAR_OK && shape[0] == 1000);
    CHECK(linear_values_i32_1d(context, once, back) == LINEAR_OK && back[0] == 999 && back[999] == 0);
    CHECK(linear_values_i32_1d(context, twice, back) == LINEAR_OK && memcmp(back, xs, sizeof xs) == 0);
    linear_free_i32_1d(context, array);
    linear_free_i32_1d(context, once);
    linear_free_i32_1d(context, twice);
}

static void moments(struct linear_context *context) {
    const double xs[] = {1, 2, 6};
    double mean, centred[3];
    bool any;
    struct linear_f64_1d *array = linear_new_f64_1d(context, xs, 3), *result;
    CHECK(linear_moments(context, &any, &result, &mean, array) == LINEAR_OK);
    CHECK(linear_values_f64_1d(context, result, centred) == LINEAR_OK);
    CHECK(any && mean == 3 && centred[0] == -2 && centred[1] == -1 && centred[2] == 3);
    linear_free_f64_1d(context, array);
    linear_free_f64_1d(context, result);
}

static void scaled(struct linear_context *context) {
    const float m[] = {1, 2, 3, 4, 5, 6};
    float back[6];
    int64_t shape[2];
    struct linear_f32_2d *matrix = linear_new_f32_2d(context, m, 2, 3), *result;
    CHECK(linear_scaled(context, &result, 10, matrix) == LINEAR_OK);
    CHECK(linear_shape_f32_2d(context, result, shape) == LINEAR_OK && shape[0] == 3 && shape[1] == 2);
    CHECK(linear_values_f32_2d(context, result, back) == LINEAR_OK);
    CHECK(back[0] == 10 && back[1] == 40 && back[5] == 60);
    linear_free_f32_2d(context, matrix);
    linear_free_f32_2d(context, result);
    CHECK(linear_new_f32_2d(context, m, -1, 3) == NULL);
    free(linear_context_error(context));
}

static void picked(struct linear_context *context) {
    const int64_t xs[] = {10, 20, 30}, good[] = {2, 0}, bad[] = {1, 7};
    int64_t back[2];
    struct linear_i64_1d *array = linear_new_i64_1d(context, xs, 3), *result;
    struct linear_i64_1d *places = linear_new_i64_1d(context, good, 2), *outside = linear_new_i64_1d(context, bad, 2);
    CHECK(linear_picked(context, &result, array, places) == LINEAR_OK);
    CHECK(linear_values_i64_1d(context, result, back) == LINEAR_OK && back[0] == 30 && back[1] == 10);
    linear_free_i64_1d(context, result);
    CHECK(linear_picked(context, &result, array, outside) == LINEAR_OK);
    CHECK(linear_values_i64_1d(context, result, back) == LINEAR_FAILED);
    char *error = linear_context_error(context);
    CHECK(error && strstr(error, "index 7") && strstr(error, "linear.pum"));
    free(error);
    linear_free_i64_1d(context, result);
    linear_free_i64_1d(context, array);
    linear_free_i64_1d(context, places);
    linear_free_i64_1d(context, outside);
}

static void grown(struct linear_context *context) {
    const uint32_t names[] = {7, 8};
    const int32_t tags[] = {0, 1};
    const float radii[] = {1.5f, 0}, widths[] = {0, 2}, heights[] = {0, 3};
    float back[2];
    int32_t kinds[2];
    struct linear_u32_1d *name = linear_new_u32_1d(context, names, 2), *name_out;
    struct linear_i32_1d *tag = linear_new_i32_1d(context, tags, 2), *tag_out;
    struct linear_f32_1d *r = linear_new_f32_1d(context, radii, 2), *w = linear_new_f32_1d(context, widths, 2);
    struct linear_f32_1d *h = linear_new_f32_1d(context, heights, 2), *r_out, *w_out, *h_out;
    CHECK(linear_grown(context, &name_out, &tag_out, &r_out, &w_out, &h_out, 2, name, tag, r, w, h) == LINEAR_OK);
    CHECK(linear_values_f32_1d(context, r_out, back) == LINEAR_OK && back[0] == 3);
    CHECK(linear_values_f32_1d(context, h_out, back) == LINEAR_OK && back[1] == 6);
    CHECK(linear_values_i32_1d(context, tag_out, kinds) == LINEAR_OK && kinds[0] == 0 && kinds[1] == 1);
    linear_free_u32_1d(context, name);
    linear_free_u32_1d(context, name_out);
    linear_free_i32_1d(context, tag);
    linear_free_i32_1d(context, tag_out);
    struct linear_f32_1d *all[] = {r, w, h, r_out, w_out, h_out};
    for (int i = 0; i < 6; i++) linear_free_f32_1d(context, all[i]);
}

static void names(struct linear_context *context) {
    int64_t next = 0;
    CHECK(linear_next_prime(context, &next, 41) == LINEAR_OK && next == 42);
}

static void second(const char *device) {
    struct second_context *context = second_context_new(device);
    int64_t total = 0;
    struct second_i64_1d *array = second_new_i64_1d(context, (const int64_t[]){1, 2, 3}, 3);
    if (second_total(context, &total, array) != SECOND_OK || total != 106) {
        char *error = second_context_error(context);
        printf("the second library says %ld (%s)\n", (long)total, error ? error : "no error");
        exit(1);
    }
    second_free_i64_1d(context, array);
    second_context_free(context);
}

int main(int count, char **arguments) {
    const char *device = count > 1 ? arguments[1] : NULL;
    struct linear_context *context = linear_context_new("gpu");
    char *error = linear_context_error(context);
    CHECK(error && strstr(error, "there is no device `gpu`"));
    free(error);
    linear_context_free(context);

    context = linear_context_new(device);
    CHECK(linear_context_error(context) == NULL);
    dotp(context);
    turned(context);
    moments(context);
    scaled(context);
    picked(context);
    grown(context);
    names(context);
    second(device);
    linear_context_free(context);
    linear_context_free(NULL);
    puts("all right");
    return 0;
}
