/* A kernel with the channels last, whose indices count over the image, as a backend.
 *
 *     cc -O2 -o maxpool_nhwc maxpool_nhwc.c
 *     conformance check --backend exec:./maxpool_nhwc --op AdaptiveMaxPool-8
 *
 * It declares both and converts nothing: data and outputs are N, H, W, C here.
 */
#include "conformance.h"

static int64_t starts(int64_t i, int64_t in, int64_t out) { return i * in / out; }
static int64_t stops(int64_t i, int64_t in, int64_t out) { return ((i + 1) * in + out - 1) / out; }

/* The largest element of each window, and its index in H, W, C. */
static void adaptive_max(const float *data, const int64_t *in, const int64_t *out, float *values,
                         int64_t *indices)
{
    int64_t n, y, x, c, i, j;
    for (n = 0; n < in[0]; n++, data += in[1] * in[2] * in[3])
        for (y = 0; y < out[1]; y++)
            for (x = 0; x < out[2]; x++)
                for (c = 0; c < in[3]; c++) {
                    int64_t top = starts(y, in[1], out[1]), left = starts(x, in[2], out[2]);
                    int64_t best = (top * in[2] + left) * in[3] + c;
                    for (i = top; i < stops(y, in[1], out[1]); i++)
                        for (j = left; j < stops(x, in[2], out[2]); j++)
                            if (data[(i * in[2] + j) * in[3] + c] > data[best])
                                best = (i * in[2] + j) * in[3] + c;
                    *values++ = data[best];
                    *indices++ = best;
                }
}

static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0), *size = cf_input(call, 1);
    int64_t shape[4], count, i, *wide;
    float *values;
    void *indices;
    int narrow = cf_is(call, "index_element_type", "i32", "i64");
    (void)user;

    if (strcmp(call->op, "AdaptiveMaxPool-8")) return cf_unsupported(call, "no %s", call->op);
    if (!narrow && !cf_is(call, "index_element_type", "i64", "i64"))
        return cf_reject(call, "indices are i32 or i64");
    if (data->rank != 4 || !size || size->count != 2)
        return cf_reject(call, "an image has two axes, and an output size for each");
    memcpy(shape, data->shape, sizeof shape);
    for (i = 0; i < 2; i++) {
        shape[1 + i] = size->dtype == CF_I32 ? ((const int32_t *)size->data)[i]
                                             : ((const int64_t *)size->data)[i];
        if (shape[1 + i] < 1 || shape[1 + i] > 1 << 20) return cf_reject(call, "output_size");
        if (!data->shape[1 + i]) return cf_reject(call, "an axis is empty");
    }
    values = (float *)cf_output(call, CF_F32, 4, shape);
    indices = cf_output(call, narrow ? CF_I32 : CF_I64, 4, shape);
    count = shape[0] * shape[1] * shape[2] * shape[3];
    wide = (int64_t *)malloc((size_t)(count ? count : 1) * sizeof *wide);
    if (!values || !indices || !wide) return free(wide), cf_reject(call, "no memory");
    adaptive_max((const float *)data->data, data->shape, shape, values, wide);
    for (i = 0; i < count; i++)
        if (narrow) ((int32_t *)indices)[i] = (int32_t)wide[i];
        else ((int64_t *)indices)[i] = wide[i];
    free(wide);
    return CF_OK;
}

int main(void)
{
    return cf_serve("maxpool_nhwc.c", "1.0",
                    "{\"operators\": [\"AdaptiveMaxPool-8\"], \"dtypes\": [\"f32\"],"
                    " \"layout\": [\"NHWC\"], \"index_layout\": [\"HWC\"]}",
                    answer, NULL);
}
