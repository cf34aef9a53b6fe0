/* A plain kernel as a backend.
 *
 *     cc -O2 -o avgpool avgpool.c
 *     conformance protocol test ./avgpool
 *     conformance check --backend exec:./avgpool --op AvgPool-1
 *
 * And on a device that reads files and no pipe (docs/exchange.md):
 *
 *     ./avgpool board
 */
#include "conformance.h"

#include "avgpool.h"

static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0);
    int axes = data->rank - 2, exclude_pad = cf_bool(call, "exclude-pad", 0), a;
    int64_t kernel[3], strides[3], begin[3], end[3], shape[5], planes;
    axis w[3] = {{1, 1, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1}};
    char auto_pad[32], rounding[32];
    float *out;
    (void)user;

    if (strcmp(call->op, "AvgPool-1")) return cf_unsupported(call, "no %s", call->op);
    if (axes < 1 || axes > 3) return cf_reject(call, "data has rank %d", data->rank);
    if (cf_ints(call, "kernel", kernel, 3) != axes || cf_ints(call, "strides", strides, 3) != axes ||
        cf_ints(call, "pads_begin", begin, 3) != axes || cf_ints(call, "pads_end", end, 3) != axes)
        return cf_reject(call, "kernel, strides and pads have a value for each axis");
    cf_text(call, "auto_pad", auto_pad, sizeof auto_pad, "explicit");
    cf_text(call, "rounding_type", rounding, sizeof rounding, "floor");

    for (a = 0; a < axes; a++) {
        axis *one = &w[3 - axes + a];
        axis asked = {data->shape[a + 2], kernel[a], strides[a], begin[a], end[a], 0};
        const char *why = plan(&asked, auto_pad, rounding, exclude_pad);
        if (why) return cf_reject(call, "axis %d: %s", a, why);
        shape[a + 2] = asked.count;
        *one = asked;
    }
    shape[0] = data->shape[0];
    shape[1] = data->shape[1];
    planes = shape[0] * shape[1];
    if (planes < 1) return cf_reject(call, "batch and channel are not empty");
    out = (float *)cf_output(call, CF_F32, data->rank, shape);
    if (!out) return cf_reject(call, "no memory");
    avg_pool((const float *)data->data, out, planes, w, exclude_pad);
    return CF_OK;
}

int main(int count, char **words)
{
    if (count == 2) return cf_serve_files(words[1], "avgpool.c", "1.0", answer, NULL);
    return cf_serve("avgpool.c", "1.0", "{\"operators\": [\"AvgPool-1\"], \"dtypes\": [\"f32\"]}",
                    answer, NULL);
}
