/* Calls a library whose kernels were compiled ahead, where there is no compiler. Prints `all right` if everything is as it should be. */

#include "second.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int total(struct second_context *context, int64_t n) {
    int64_t sum = 0, *xs = calloc((size_t)n, sizeof *xs);
    for (int64_t i = 0; i < n; i++) xs[i] = i;
    struct second_i64_1d *array = second_new_i64_1d(context, xs, n);
    int status = second_total(context, &sum, array);
    char *error = second_context_error(context);
    if (error) puts(error);
    free(error);
    free(xs);
    second_free_i64_1d(context, array);
    return status == SECOND_OK && sum == 100 + n * (n - 1) / 2;
}

int main(void) {
    struct second_context *context = second_context_new("cpu");
    if (!total(context, 3) || !total(context, 1000) || !total(context, 3000)) return 1;
    /* A kernel of a function with levels is for the lengths and integers that it is called with. */
    struct second_i64_1d *array = second_new_i64_1d(context, (const int64_t[]){1, 2, 3, 4}, 4), *result;
    int status = second_turned(context, &result, 2, array);
    char *error = second_context_error(context);
    if (status != SECOND_DEVICE || !strstr(error, "was not compiled ahead, and")) {
        printf("%d: %s\n", status, error ? error : "no error");
        return 1;
    }
    free(error);
    second_free_i64_1d(context, array);
    second_context_free(context);
    puts("all right");
    return 0;
}
