/* Average pooling of the acme library: f32, one to three spatial axes, NC first. */
#ifndef ACME_POOL_H
#define ACME_POOL_H

#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t size, kernel, stride, begin, end, count;
} axis;

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Finds the pads and the number of windows on an axis; returns why there are none, or NULL. */
const char *plan(axis *w, const char *auto_pad, const char *rounding, int *exclude_pad)
{
    int lower = !strcmp(auto_pad, "same_lower"), up = !strcmp(rounding, "ceil");
    int64_t total, room;
    if (w->kernel < 1 || w->stride < 1) return "kernel and strides are above 0";
    if (lower || !strcmp(auto_pad, "same_upper")) {
        total = (w->size + w->stride - 1) / w->stride;
        total = max(0, (total - 1) * w->stride + w->kernel - w->size);
        w->begin = total / 2;
        w->end = total - w->begin;
        *exclude_pad = 0;
    } else if (!strcmp(auto_pad, "valid")) {
        w->begin = w->end = 0;
    } else if (strcmp(auto_pad, "explicit")) {
        return "there is no such auto_pad";
    }
    if (!up && strcmp(rounding, "floor")) return "there is no such rounding_type";
    room = w->size + w->begin + w->end - w->kernel;
    if (w->begin < 0 || w->end < 0 || room < 0) return "no window fits";
    if (*exclude_pad && max(w->begin, w->end) >= w->kernel) return "pads reach the kernel";
    w->count = room / w->stride + 1;
    return NULL;
}

/* The mean of one window; what lies outside of the data counts as 0, or not at all. */
static float mean(const float *data, const axis *w, const int64_t *out, int exclude_pad)
{
    int64_t b[3], e[3], x, y, z, inside = 1, whole = 1;
    float sum = 0;
    int a;
    for (a = 0; a < 3; a++) {
        int64_t start = out[a] * w[a].stride - w[a].begin;
        b[a] = min(max(start, 0), w[a].size);
        e[a] = max(min(start + w[a].kernel, w[a].size), b[a]);
        inside *= e[a] - b[a];
        whole *= w[a].kernel;
    }
    for (z = b[0]; z < e[0]; z++)
        for (y = b[1]; y < e[1]; y++)
            for (x = b[2]; x < e[2]; x++) sum += data[(z * w[1].size + y) * w[2].size + x];
    return sum / (float)(exclude_pad ? inside : whole);
}

/* The means of all windows of so many planes; unused axes come first and have size 1. */
static void avg_pool(const float *data, float *out, int64_t planes, const axis *w, int exclude_pad)
{
    int64_t at[3];
    for (; planes-- > 0; data += w[0].size * w[1].size * w[2].size)
        for (at[0] = 0; at[0] < w[0].count; at[0]++)
            for (at[1] = 0; at[1] < w[1].count; at[1]++)
                for (at[2] = 0; at[2] < w[2].count; at[2]++)
                    *out++ = mean(data, w, at, exclude_pad);
}

#endif
