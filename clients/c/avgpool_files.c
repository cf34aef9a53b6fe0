/* The kernel of avgpool.h on a device that reads files and no pipe:
 *
 *     conformance export --format raw --op AvgPool-1 --capabilities avgpool.json --out board
 *     cc -O2 -o avgpool_files avgpool_files.c
 *     (cd board && ../avgpool_files < cases.txt)
 *     echo '{"name": "my board", "version": "1", "nonce": "..."}' > board/device.json
 *     conformance grade board --op AvgPool-1
 */
#include "avgpool.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int64_t shape[8], kernel[8], strides[8], begin[8], end[8];
    int rank, axes[4], exclude_pad;
    char dtype[8], auto_pad[32], rounding[32];
} request;

static FILE *opened(const char *folder, const char *name, const char *mode)
{
    char path[64];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, mode);
    if (!file) exit((perror(path), 1));
    return file;
}

static void refuse(const char *folder, const char *why)
{
    FILE *file = opened(folder, "ending.txt", "w");
    fprintf(file, "raised %s\n", why);
    fclose(file);
}

static int list(int64_t *into)
{
    int count, i;
    long long value;
    if (scanf("%d", &count) != 1 || count > 8) exit(2);
    for (i = 0; i < count; i++) {
        if (scanf("%lld", &value) != 1) exit(2);
        into[i] = value;
    }
    return count;
}

/* Reads the line of a case; 0 at the end of the file. */
static int next(char *folder, request *r)
{
    char op[64], name[64], kind[8], text[32];
    int64_t ignored[8];
    int outputs, inputs, attributes;
    memset(r, 0, sizeof *r);
    strcpy(r->auto_pad, "explicit");
    strcpy(r->rounding, "floor");
    if (scanf("%15s %63s outputs %d inputs %d", folder, op, &outputs, &inputs) != 4) return 0;
    if (strcmp(op, "AvgPool-1") || inputs != 1 || scanf("%7s", r->dtype) != 1) exit(2);
    r->rank = list(r->shape);
    if (scanf(" attributes %d", &attributes) != 1) exit(2);
    while (attributes-- > 0) {
        if (scanf("%63s %7s", name, kind) != 2) exit(2);
        if (!strcmp(kind, "ints")) {
            if (!strcmp(name, "kernel")) r->axes[0] = list(r->kernel);
            else if (!strcmp(name, "strides")) r->axes[1] = list(r->strides);
            else if (!strcmp(name, "pads_begin")) r->axes[2] = list(r->begin);
            else if (!strcmp(name, "pads_end")) r->axes[3] = list(r->end);
            else list(ignored);
            continue;
        }
        if (scanf("%31s", text) != 1) exit(2);
        if (!strcmp(name, "exclude-pad")) r->exclude_pad = atoi(text);
        if (!strcmp(name, "auto_pad")) strcpy(r->auto_pad, text);
        if (!strcmp(name, "rounding_type")) strcpy(r->rounding, text);
    }
    return 1;
}

static void answer(const char *folder, const request *r)
{
    axis w[3] = {{1, 1, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1}};
    int axes = r->rank - 2, a;
    size_t from = 1, to = 1;
    float *data, *out;
    FILE *file;
    if (axes < 1 || axes > 3) return refuse(folder, "the rank of the data");
    for (a = 0; a < 4; a++)
        if (r->axes[a] != axes) return refuse(folder, "a list needs a value for each axis");
    if (r->shape[0] < 1 || r->shape[1] < 1) return refuse(folder, "batch or channel is empty");
    for (a = 0; a < axes; a++) {
        axis asked = {r->shape[a + 2], r->kernel[a], r->strides[a], r->begin[a], r->end[a], 0};
        const char *why = plan(&asked, r->auto_pad, r->rounding, r->exclude_pad);
        if (why) return refuse(folder, why);
        w[3 - axes + a] = asked;
    }
    for (a = 0; a < r->rank; a++) from *= (size_t)r->shape[a];
    to = (size_t)(r->shape[0] * r->shape[1] * w[0].count * w[1].count * w[2].count);
    data = (float *)malloc(from * 4 + 1);
    out = (float *)malloc(to * 4 + 1);
    file = opened(folder, "in0.bin", "rb");
    if (fread(data, 4, from, file) != from) exit(2);
    fclose(file);
    avg_pool(data, out, r->shape[0] * r->shape[1], w, r->exclude_pad);
    file = opened(folder, "out0.bin", "wb");
    fwrite(out, 4, to, file);
    fclose(file);
    file = opened(folder, "out.txt", "w");
    fprintf(file, "f32 %d %lld %lld", r->rank, (long long)r->shape[0], (long long)r->shape[1]);
    for (a = 0; a < axes; a++) fprintf(file, " %lld", (long long)w[3 - axes + a].count);
    fprintf(file, "\n");
    fclose(file);
    free(data);
    free(out);
}

int main(void)
{
    char folder[16];
    request r;
    while (next(folder, &r)) answer(folder, &r);
    return 0;
}
