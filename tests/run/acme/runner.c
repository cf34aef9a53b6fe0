#include "conformance.h"
#include "acme_pool.h"

/* AvgPool-1 in f32 with the acme kernel. */
static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0);
    axis w[3];
    int64_t kernel[3], strides[3], begin[3], end[3], shape[CF_MAX_RANK];
    char auto_pad[32], rounding[32];
    int axes, a, exclude_pad;
    float *out;
    (void)user;
    if (strcmp(call->op, "AvgPool-1")) return cf_unsupported(call, "there is no %s", call->op);
    if (!data) return cf_reject(call, "no input");
    if (data->dtype != CF_F32) return cf_unsupported(call, "only f32");
    if (data->rank < 3 || data->rank > 5) return cf_reject(call, "data has rank %d", data->rank);
    axes = data->rank - 2;
    if (cf_ints(call, "kernel", kernel, 3) != axes || cf_ints(call, "strides", strides, 3) != axes ||
        cf_ints(call, "pads_begin", begin, 3) != axes || cf_ints(call, "pads_end", end, 3) != axes)
        return cf_reject(call, "kernel, strides and pads need one number per axis");
    if (!cf_has(call, "exclude-pad")) return cf_reject(call, "exclude-pad is required");
    exclude_pad = cf_bool(call, "exclude-pad", 0);
    cf_text(call, "auto_pad", auto_pad, sizeof auto_pad, "explicit");
    cf_text(call, "rounding_type", rounding, sizeof rounding, "floor");
    for (a = 0; a < 3; a++) { /* unused axes come first */
        axis one = {1, 1, 1, 0, 0, 1};
        w[a] = one;
    }
    shape[0] = data->shape[0];
    shape[1] = data->shape[1];
    for (a = 0; a < axes; a++) {
        axis *to = &w[3 - axes + a];
        const char *why;
        to->size = data->shape[2 + a];
        to->kernel = kernel[a];
        to->stride = strides[a];
        to->begin = begin[a];
        to->end = end[a];
        why = plan(to, auto_pad, rounding, &exclude_pad);
        if (why) return cf_reject(call, "%s", why);
        shape[2 + a] = to->count;
    }
    out = (float *)cf_output(call, CF_F32, data->rank, shape);
    if (!out) return cf_reject(call, "no memory");
    avg_pool((const float *)data->data, out, shape[0] * shape[1], w, exclude_pad);
    return CF_OK;
}

int main(void)
{
    return cf_serve("acme", "1.0", "{\"operators\": [\"AvgPool-1\"], \"dtypes\": [\"f32\"]}", answer,
                    NULL);
}
