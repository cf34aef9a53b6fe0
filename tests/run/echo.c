/* What conformance.h does, asked from outside by test_clients.py: its operators are tests. */
#include "conformance.h"

static int attributes(cf_call *call)
{
    int64_t list[2];
    char text[8];
    printf("on stdout, in the middle of a call\n");
    if (cf_ints(call, "list", list, 2) != 3 || list[1] != -3) return cf_reject(call, "list");
    if (cf_ints(call, "empty", list, 2) != 0 || cf_ints(call, "absent", list, 2) != -1)
        return cf_reject(call, "no list");
    if (cf_ints(call, "whole", list, 2) != 1) return cf_reject(call, "list of one");
    if (cf_int(call, "whole", 0) != -(1ll << 62) || cf_int(call, "absent", 7) != 7)
        return cf_reject(call, "whole");
    if (!cf_bool(call, "yes", 0) || cf_bool(call, "no", 1) || !cf_bool(call, "absent", 1))
        return cf_reject(call, "bool");
    if (strcmp(cf_text(call, "short", text, sizeof text, ""), "a {long")) return cf_reject(call, "cut");
    if (!cf_is(call, "text", "a {long] text", "") || !cf_is(call, "absent", "x", "x"))
        return cf_reject(call, "text");
    if (cf_is(call, "text", "a {long", "") || cf_is(call, "short", "a {long] text", ""))
        return cf_reject(call, "beginning of a text");
    if (cf_is(call, "absent", "x", 0) || cf_is(call, "text", 0, 0) || cf_is(call, "absent", 0, 0))
        return cf_reject(call, "NULL");
    if (*cf_text(call, "absent", text, sizeof text, 0)) return cf_reject(call, "NULL for a text");
    if (cf_kind(call, "list") != CF_INTS || cf_kind(call, "empty") != CF_INTS ||
        cf_kind(call, "whole") != CF_INT || cf_kind(call, "yes") != CF_BOOL ||
        cf_kind(call, "real") != CF_REAL || cf_kind(call, "reals") != CF_REALS ||
        cf_kind(call, "text") != CF_TEXT || cf_kind(call, "nested") != CF_OTHER ||
        cf_kind(call, "absent") != CF_ABSENT)
        return cf_reject(call, "kinds");
    return cf_has(call, "exclude-pad") && !cf_has(call, "exclude_pad") ? CF_OK : cf_reject(call, "has");
}

/* One attribute of each kind, as a kernel asks for them, whatever they are. */
static int kinds(cf_call *call)
{
    int64_t one[1] = {1}, list[2] = {0, 0}, *out;
    char text[8];
    out = (int64_t *)cf_output(call, CF_I64, 1, one);
    out[0] = cf_int(call, "number", 5) + 100 * cf_bool(call, "flag", 0) +
             1000 * cf_ints(call, "list", list, 2) +
             10000 * (int64_t)strlen(cf_text(call, "text", text, sizeof text, "x"));
    return CF_OK;
}

static int reals(cf_call *call)
{
    double list[4096], *out;
    int64_t count[1];
    int i, size = cf_reals(call, "list", list, 4096);
    count[0] = 1 + (size < 0 ? 0 : size);
    out = (double *)cf_output(call, CF_F64, 1, count);
    out[0] = cf_real(call, "number", 5.5);
    for (i = 0; i < size; i++) out[i + 1] = list[i];
    return CF_OK;
}

/* Whether each of four inputs is there. */
static int present(cf_call *call)
{
    int64_t four[1] = {4}, *out = (int64_t *)cf_output(call, CF_I64, 1, four);
    int i;
    for (i = 0; i < 4; i++) out[i] = cf_input(call, i) ? (int64_t)cf_input(call, i)->count : -1;
    return CF_OK;
}

static int convert(cf_call *call)
{
    const cf_array *codes = cf_input(call, 0), *wide = cf_input(call, 1);
    const uint16_t *code = (const uint16_t *)codes->data;
    const float *value = (const float *)wide->data;
    float *exact = (float *)cf_output(call, CF_F32, 1, codes->shape);
    uint16_t *back = (uint16_t *)cf_output(call, codes->dtype, 1, codes->shape);
    uint16_t *rounded = (uint16_t *)cf_output(call, codes->dtype, 1, wide->shape);
    int half = codes->dtype == CF_F16;
    size_t i;
    for (i = 0; i < codes->count; i++) {
        exact[i] = half ? cf_f16_to_f32(code[i]) : cf_bf16_to_f32(code[i]);
        back[i] = half ? cf_f32_to_f16(exact[i]) : cf_f32_to_bf16(exact[i]);
    }
    for (i = 0; i < wide->count; i++)
        rounded[i] = half ? cf_f32_to_f16(value[i]) : cf_f32_to_bf16(value[i]);
    return CF_OK;
}

static int answer(cf_call *call, void *user)
{
    int64_t below[1] = {-1};
    int i;
    (void)user;
    if (!strcmp(call->op, "attributes")) return attributes(call);
    if (!strcmp(call->op, "convert")) return convert(call);
    if (!strcmp(call->op, "kinds")) return kinds(call);
    if (!strcmp(call->op, "reals")) return reals(call);
    if (!strcmp(call->op, "present")) return present(call);
    if (!strcmp(call->op, "strange")) return 42;
    if (!strcmp(call->op, "unsupported")) return cf_unsupported(call, "\"%s\" \\ \n", call->op);
    if (!strcmp(call->op, "long")) return cf_reject(call, "%2000d", 1);
    if (!strcmp(call->op, "below")) return cf_output(call, CF_F32, 1, below) ? CF_OK : CF_REJECTED;
    for (i = 0; cf_input(call, i); i++) {
        const cf_array *in = cf_input(call, i);
        void *out = cf_output(call, in->dtype, in->rank, in->shape);
        if (strcmp(call->op, "unwritten")) memcpy(out, in->data, in->bytes);
        if (!strcmp(call->op, "changes") && i == 1) ((char *)in->data)[0] ^= 1;
    }
    return CF_OK;
}

int main(void) { return cf_serve("echo \"\\", "1.0", NULL, answer, NULL); }
