/* conformance.h: a program in C99 or C++ as a backend of `conformance check --backend "exec:..."`.
 *
 * One header, no dependencies, POSIX. The protocol is docs/protocol.md; this is version 1 of it.
 * For a device that reads files and no pipe there is cf_serve_files: docs/exchange.md. With
 * CF_NO_STREAMS defined before the header it needs the C library alone.
 *
 *     static int answer(cf_call *call, void *user)
 *     {
 *         const cf_array *data = cf_input(call, 0);
 *         int64_t kernel[8];
 *         int axes = cf_ints(call, "kernel", kernel, 8);
 *         double scale = cf_real(call, "scale", 1.0);
 *         ...
 *         if (kernel[0] < 1) return cf_reject(call, "kernel is %d", (int)kernel[0]);
 *         float *out = (float *)cf_output(call, CF_F32, data->rank, shape);
 *         ...
 *         return CF_OK;
 *     }
 *
 *     int main(void)
 *     {
 *         return cf_serve("mykernel", "1.0", "{\"operators\": [\"AvgPool-1\"]}", answer, NULL);
 *     }
 *
 * A kernel with the channels last adds \"layout\": [\"NHWC\"] to the capabilities; then data, outputs
 * and their shapes have that layout. \"index_layout\": [\"HWC\"] says over which axes its indices
 * count. {\"X\": [\"NHWC\"], \"W\": [\"OIHW->OHWI\"]} has a layout for each tensor by name. None of them
 * needs code: see docs/backends.md.
 *
 * An attribute of another kind than is asked for never becomes a default: the call is then refused,
 * with a message that names the attribute, whatever the function returns for it (see cf_kind).
 *
 * cf_serve keeps the stream of answers to itself: what the program prints on stdout goes to stderr.
 * It checks after each call whether an input was changed, and fills outputs with 0xff before it, so
 * that an element that is not written shows as NaN or -1.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE)
#define _POSIX_C_SOURCE 200809L /* for cc -std=c99; in vain if a system header came before */
#endif
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef CF_NO_STREAMS
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif
#endif

#define CF_PROTOCOL 1
#define CF_MAX_RANK 16
#define CF_MAX_ARRAYS 16
#define CF_MAX_HEADER (16u << 20)

typedef enum {
    CF_F16, CF_BF16, CF_F32, CF_F64,
    CF_I8, CF_I16, CF_I32, CF_I64,
    CF_U8, CF_U16, CF_U32, CF_U64,
    CF_B8, /* bool: a byte, 0 or 1; CF_BOOL is a kind of attribute */
    CF_TYPES
} cf_dtype;

/* What the function of cf_serve returns. */
enum { CF_OK = 0, CF_REJECTED = 1, CF_UNSUPPORTED = 2 };

/* What an attribute may be. */
typedef enum { CF_ABSENT, CF_INT, CF_BOOL, CF_TEXT, CF_INTS, CF_REAL, CF_REALS, CF_OTHER } cf_kinds;

/* An array in C order. f16 and bf16 are 16-bit codes (uint16_t); see cf_f16_to_f32. */
typedef struct {
    cf_dtype dtype;
    int rank;
    int64_t shape[CF_MAX_RANK];
    size_t count; /* elements; 0 for an empty array, 1 for rank 0 */
    size_t bytes;
    void *data; /* aligned as malloc does */
} cf_array;

/* A piece of the JSON text of a request. */
typedef struct {
    const char *begin, *end;
} cf_json;

typedef struct {
    long long number;
    size_t limit;
    char op[128];
    cf_json attributes;
    cf_array inputs[CF_MAX_ARRAYS], outputs[CF_MAX_ARRAYS];
    int input_count, output_count;
    char message[1000];
    char *wrong;      /* an attribute of another kind than was asked for, in words; owned */
    char *text;       /* the header, owned */
    unsigned char *payload; /* the inputs as they came, owned */
} cf_call;

/* --- what a kernel asks of a call ------------------------------------------------------------ */

static inline size_t cf_size_of(cf_dtype dtype)
{
    static const unsigned char sizes[CF_TYPES] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
    return sizes[dtype];
}

static inline const char *cf_name_of(cf_dtype dtype)
{
    static const char *const names[CF_TYPES] = {"f16", "bf16", "f32", "f64", "i8",  "i16",
                                                "i32", "i64",  "u8",  "u16", "u32", "u64",
                                                "bool"};
    return names[dtype];
}

/* Input i, or NULL for an optional one that is absent. It may be written to, and that is reported. */
static inline const cf_array *cf_input(const cf_call *call, int i)
{
    return i < 0 || i >= call->input_count || !call->inputs[i].data ? NULL : &call->inputs[i];
}

static inline int cf_say(cf_call *call, int result, const char *format, va_list values)
{
    vsnprintf(call->message, sizeof call->message, format, values);
    return result;
}

/* Refuse the case as invalid, and say why: return cf_reject(call, "kernel is %d", k). */
static inline int cf_reject(cf_call *call, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cf_say(call, CF_REJECTED, format, values);
    va_end(values);
    return CF_REJECTED;
}

/* Say that the program does not claim this case. */
static inline int cf_unsupported(cf_call *call, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cf_say(call, CF_UNSUPPORTED, format, values);
    va_end(values);
    return CF_UNSUPPORTED;
}

/* The elements of the next output, filled with 0xff; NULL if there is no memory or the shape is
 * none (a size below 0). It is freed after the call. Any shape may be given, wrong ones too. */
static inline void *cf_output(cf_call *call, cf_dtype dtype, int rank, const int64_t *shape)
{
    cf_array *made;
    size_t count = 1, size = cf_size_of(dtype);
    int i;
    if (call->output_count >= CF_MAX_ARRAYS || rank < 0 || rank > CF_MAX_RANK) return NULL;
    made = &call->outputs[call->output_count];
    made->dtype = dtype;
    made->rank = rank;
    for (i = 0; i < rank; i++) {
        if (shape[i] < 0) return NULL;
        if (shape[i] > 0 && count > SIZE_MAX / size / (size_t)shape[i]) return NULL;
        count *= (size_t)shape[i];
        made->shape[i] = shape[i];
    }
    made->count = count;
    made->bytes = count * size;
    made->data = malloc(made->bytes ? made->bytes : 1);
    if (!made->data) return NULL;
    memset(made->data, 0xff, made->bytes);
    call->output_count++;
    return made->data;
}

/* --- JSON, as far as requests need it -------------------------------------------------------- */

static inline const char *cf_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* The place after the value that begins at a place; NULL if there is none. */
static inline const char *cf_skip(const char *at, const char *end)
{
    int depth = 0;
    at = cf_blank(at, end);
    for (;;) {
        if (at >= end) return NULL;
        if (*at == '"') {
            for (at++; at < end && *at != '"'; at++)
                if (*at == '\\') at++;
            if (at >= end) return NULL;
            at++;
        } else if (*at == '{' || *at == '[') {
            depth++;
            at = cf_blank(at + 1, end);
            if (at < end && (*at == '}' || *at == ']')) continue;
            if (at >= end) return NULL;
            continue;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else {
            const char *from = at;
            while (at < end && !strchr(",:]} \t\r\n", *at)) at++;
            if (at == from) return NULL;
        }
        at = cf_blank(at, end);
        if (depth <= 0) return depth == 0 ? at : NULL;
        if (at < end && (*at == ',' || *at == ':')) at = cf_blank(at + 1, end);
    }
}

static inline cf_json cf_none(void)
{
    cf_json none = {NULL, NULL};
    return none;
}

/* Steps to the next element of an array or object: its key, if that is asked for, and value. */
static inline int cf_next(const char **at, const char *end, cf_json *key, cf_json *value)
{
    *at = cf_blank(*at, end);
    if (*at < end && **at == ',') *at = cf_blank(*at + 1, end);
    if (*at >= end || **at == '}' || **at == ']') return 0;
    if (key) {
        const char *after;
        if (**at != '"' || !(after = cf_skip(*at, end))) return 0;
        key->begin = *at + 1;
        key->end = after;
        while (key->end > key->begin && *key->end != '"') key->end--;
        if (after >= end || *after != ':') return 0;
        *at = cf_blank(after + 1, end);
    }
    value->begin = *at;
    value->end = cf_skip(*at, end);
    if (!value->end) return 0;
    *at = value->end;
    return 1;
}

/* The member of an object; begin is NULL if it has none. */
static inline cf_json cf_member(cf_json object, const char *name)
{
    cf_json key, value;
    const char *at;
    size_t length = strlen(name);
    if (!object.begin || object.begin >= object.end || *object.begin != '{') return cf_none();
    at = object.begin + 1;
    while (cf_next(&at, object.end, &key, &value))
        if ((size_t)(key.end - key.begin) == length && !memcmp(key.begin, name, length))
            return value;
    return cf_none();
}

/* Reads a number without a fraction that 64 bits hold, whatever the locale is. */
static inline int cf_whole(cf_json value, long long *number)
{
    const char *at = value.begin;
    uint64_t size = 0, most = INT64_MAX;
    int below = at && at < value.end && *at == '-';
    if (below) at++, most++;
    if (!at || at >= value.end || *at < '0' || *at > '9') return 0;
    for (; at < value.end && *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (size > (most - digit) / 10) return 0;
        size = size * 10 + digit;
    }
    *number = !below ? (int64_t)size : size ? -(int64_t)(size - 1) - 1 : 0;
    return at == value.end || (*at != '.' && *at != 'e' && *at != 'E' && (*at < '0' || *at > '9'));
}

/* A whole number of any size that a double needs: its limbs, the least first. */
#define CF_LIMBS 48
typedef struct {
    uint32_t limb[CF_LIMBS];
} cf_big;

static inline void cf_times(cf_big *big, uint32_t factor)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < CF_LIMBS; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static inline int cf_less(const cf_big *a, const cf_big *b)
{
    int i = CF_LIMBS - 1;
    while (i > 0 && a->limb[i] == b->limb[i]) i--;
    return a->limb[i] < b->limb[i];
}

static inline void cf_minus(cf_big *a, const cf_big *b)
{
    uint64_t borrow = 0;
    int i;
    for (i = 0; i < CF_LIMBS; i++) {
        borrow = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint32_t)borrow;
        borrow = borrow >> 63;
    }
}

/* digits * 10**exponent as a double, rounded once, to nearest even. */
static inline double cf_rounded(uint64_t digits, int exponent)
{
    cf_big top = {{0}}, bottom = {{0}};
    uint64_t bits = 0;
    double value;
    int power = 0, width = 53, i;
    if (!digits) return 0;
    if (exponent > 308 || exponent < -343) return exponent < 0 ? 0 : HUGE_VAL;
    top.limb[0] = (uint32_t)digits;
    top.limb[1] = (uint32_t)(digits >> 32);
    bottom.limb[0] = 1;
    for (i = exponent; i > 0; i--) cf_times(&top, 10);
    for (i = exponent; i < 0; i++) cf_times(&bottom, 10);
    /* 2**power <= value < 2**(power + 1) */
    for (; cf_less(&top, &bottom); power--) cf_times(&top, 2);
    for (; !cf_less(&top, &bottom); power++) cf_times(&bottom, 2);
    power--;
    if (power < -1022) width += power + 1022; /* a subnormal has fewer bits */
    if (width < 0) return 0;
    for (i = 0; i < width; i++) {
        cf_times(&top, 2);
        bits <<= 1;
        if (!cf_less(&top, &bottom)) {
            cf_minus(&top, &bottom);
            bits |= 1;
        }
    }
    cf_times(&top, 2); /* what is left, against half of the last bit */
    if (!cf_less(&top, &bottom) && (cf_less(&bottom, &top) || (bits & 1))) bits++;
    /* A carry goes into the exponent, as it should. */
    if (width == 53) bits += (uint64_t)(power + 1022) << 52;
    if (bits >= (uint64_t)2047 << 52) return HUGE_VAL;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reads a finite number, whatever the locale is. No program writes one of more than 19 digits. */
static inline int cf_fraction(cf_json value, double *number)
{
    const char *at = value.begin;
    uint64_t digits = 0;
    int exponent = 0, shift = 0, is_fraction = 0, below = at && at < value.end && *at == '-';
    if (below) at++;
    if (!at || at >= value.end || *at < '0' || *at > '9') return 0;
    for (; at < value.end && ((*at >= '0' && *at <= '9') || (*at == '.' && !is_fraction)); at++) {
        if (*at == '.') {
            is_fraction = 1;
            continue;
        }
        if (digits > (UINT64_MAX - 9) / 10 || shift < -9999) return 0;
        digits = digits * 10 + (uint64_t)(*at - '0');
        shift -= is_fraction;
    }
    if (at < value.end && (*at == 'e' || *at == 'E')) {
        int sign = 1;
        if (++at < value.end && (*at == '-' || *at == '+')) sign = *at++ == '-' ? -1 : 1;
        if (at >= value.end || *at < '0' || *at > '9') return 0;
        for (; at < value.end && *at >= '0' && *at <= '9'; at++)
            if (exponent < 9999) exponent = exponent * 10 + *at - '0';
        exponent *= sign;
    }
    *number = cf_rounded(digits, exponent + shift);
    if (*number == HUGE_VAL) return 0;
    if (below) *number = -*number;
    return cf_blank(at, value.end) == value.end;
}

/* --- attributes, spelled as the document spells them ----------------------------------------- */

/* Whether the attribute is given; one with a default may be absent. */
static inline int cf_has(const cf_call *call, const char *name)
{
    return cf_member(call->attributes, name).begin != NULL;
}

/* What kind of value an attribute has; CF_OTHER is none that a specification has. */
static inline cf_kinds cf_kind(const cf_call *call, const char *name)
{
    cf_json value = cf_member(call->attributes, name), item;
    const char *at;
    cf_kinds kind = CF_INTS;
    long long number;
    double real;
    if (!value.begin) return CF_ABSENT;
    if (*value.begin == '"') return CF_TEXT;
    if (*value.begin == 't' || *value.begin == 'f') return CF_BOOL;
    if (cf_whole(value, &number)) return CF_INT;
    if (cf_fraction(value, &real)) return CF_REAL;
    if (*value.begin != '[') return CF_OTHER;
    for (at = value.begin + 1; cf_next(&at, value.end, NULL, &item);) {
        if (cf_whole(item, &number)) continue;
        if (!cf_fraction(item, &real)) return CF_OTHER;
        kind = CF_REALS;
    }
    return kind;
}

/* Remembers that an attribute is not of the kind that was asked for; the first one is told. */
static inline void cf_other(const cf_call *call, const char *name, const char *wanted)
{
    cf_json value = cf_member(call->attributes, name);
    size_t length = (size_t)(value.end - value.begin);
    if (!call->wrong || *call->wrong) return;
    snprintf(call->wrong, sizeof call->message, "attribute %.100s is %.*s, not %s", name,
             (int)(length < 200 ? length : 200), value.begin, wanted);
}

/* An integer; true and false are 1 and 0. */
static inline int64_t cf_int(const cf_call *call, const char *name, int64_t otherwise)
{
    cf_json value = cf_member(call->attributes, name);
    long long number;
    if (!value.begin) return otherwise;
    if (cf_whole(value, &number)) return (int64_t)number;
    if (*value.begin == 't' || *value.begin == 'f') return *value.begin == 't';
    cf_other(call, name, "an integer");
    return otherwise;
}

/* A number, perhaps with a fraction; an integer is one, too. */
static inline double cf_real(const cf_call *call, const char *name, double otherwise)
{
    cf_json value = cf_member(call->attributes, name);
    double number;
    if (!value.begin) return otherwise;
    if (cf_fraction(value, &number)) return number;
    cf_other(call, name, "a number");
    return otherwise;
}

/* A yes or no. Some documents spell it 1 or 0; any other integer is neither. */
static inline int cf_bool(const cf_call *call, const char *name, int otherwise)
{
    cf_json value = cf_member(call->attributes, name);
    long long number;
    if (!value.begin) return otherwise;
    if (*value.begin == 't' || *value.begin == 'f') return *value.begin == 't';
    if (cf_whole(value, &number) && (number == 0 || number == 1)) return (int)number;
    cf_other(call, name, "true or false, 1 or 0");
    return otherwise;
}

/* Copies a text; `otherwise`, or "" where that is NULL, if it is absent. A text for which there is
 * no room is cut, and told as one of another kind is. */
static inline const char *cf_text(const cf_call *call, const char *name, char *into, size_t room,
                                  const char *otherwise)
{
    cf_json value = cf_member(call->attributes, name);
    const char *at = value.begin;
    size_t used = 0;
    if (!at || *at != '"') {
        if (at) cf_other(call, name, "a text");
        if (room) snprintf(into, room, "%s", otherwise ? otherwise : "");
        return into;
    }
    for (at++; at < value.end && *at != '"'; at++) {
        if (used + 1 < room) into[used] = *at;
        used++;
    }
    if (room) into[used < room ? used : room - 1] = 0;
    if (used >= room) cf_other(call, name, "a text for which there is room");
    return into;
}

/* Whether the attribute, `otherwise` where it is absent, is that text. Absent and NULL is none. */
static inline int cf_is(const cf_call *call, const char *name, const char *text,
                        const char *otherwise)
{
    cf_json value = cf_member(call->attributes, name);
    size_t length = text ? strlen(text) : 0;
    if (!value.begin) return text && otherwise && !strcmp(otherwise, text);
    if (*value.begin != '"') {
        cf_other(call, name, "a text");
        return 0;
    }
    return text && (size_t)(value.end - value.begin) > length + 1 &&
           !memcmp(value.begin + 1, text, length) && value.begin[length + 1] == '"';
}

/* Copies a list of integers, at most `room`; the number of its elements, or -1 if it is absent or no
 * list of integers. A bare integer is a list of one. */
static inline int cf_ints(const cf_call *call, const char *name, int64_t *into, int room)
{
    cf_json list = cf_member(call->attributes, name), value;
    cf_kinds kind = cf_kind(call, name);
    const char *at;
    long long number = 0;
    int count = 0;
    if (kind == CF_INT) {
        cf_whole(list, &number);
        if (room > 0) into[0] = (int64_t)number;
        return 1;
    }
    if (kind != CF_INTS) {
        if (kind != CF_ABSENT) cf_other(call, name, "a list of integers");
        return -1;
    }
    at = list.begin + 1;
    while (cf_next(&at, list.end, NULL, &value)) {
        cf_whole(value, &number);
        if (count < room) into[count] = (int64_t)number;
        count++;
    }
    return count;
}

/* Copies a list of numbers, as cf_ints does those of integers; of integers it may be, too. */
static inline int cf_reals(const cf_call *call, const char *name, double *into, int room)
{
    cf_json list = cf_member(call->attributes, name), value;
    cf_kinds kind = cf_kind(call, name);
    const char *at;
    double number = 0;
    int count = 0;
    if (kind == CF_INT || kind == CF_REAL) {
        if (room > 0) into[0] = cf_real(call, name, 0);
        return 1;
    }
    if (kind != CF_INTS && kind != CF_REALS) {
        if (kind != CF_ABSENT) cf_other(call, name, "a list of numbers");
        return -1;
    }
    at = list.begin + 1;
    while (cf_next(&at, list.end, NULL, &value)) {
        cf_fraction(value, &number);
        if (count < room) into[count] = number;
        count++;
    }
    return count;
}

/* --- 16-bit floats: exact one way, to nearest even the other --------------------------------- */

static inline float cf_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t cf_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float cf_bf16_to_f32(uint16_t code) { return cf_of_bits((uint32_t)code << 16); }

static inline uint16_t cf_f32_to_bf16(float value)
{
    uint32_t bits = cf_bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float cf_f16_to_f32(uint16_t code)
{
    uint32_t sign = (uint32_t)(code & 0x8000u) << 16, exponent = code >> 10 & 31u;
    uint32_t fraction = code & 0x3ffu;
    if (exponent == 31) return cf_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent) return cf_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    /* A subnormal is its fraction times 2**-24. */
    return cf_of_bits(sign | cf_bits_of((float)fraction * 5.9604644775390625e-8f));
}

static inline uint16_t cf_f32_to_f16(float value)
{
    uint32_t bits = cf_bits_of(value), sign = bits >> 16 & 0x8000u, fraction, shift, half, rest;
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (bits >> 13 & 0x3ffu));
    if (bits >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
    if (bits >= 0x38800000u) { /* normal; a carry goes into the exponent, as it should */
        bits -= 0x38000000u;
        return (uint16_t)(sign | (bits + 0xfffu + (bits >> 13 & 1u)) >> 13);
    }
    shift = 126 - (bits >> 23);
    if (shift > 24) return (uint16_t)sign;
    fraction = (bits & 0x7fffffu) | 0x800000u;
    half = fraction >> shift;
    rest = fraction & ((1u << shift) - 1);
    half += rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (half & 1u));
    return (uint16_t)(sign | half);
}

/* --- one call ---------------------------------------------------------------------------------- */

static inline void cf_release(cf_call *call)
{
    int i;
    for (i = 0; i < call->input_count; i++) free(call->inputs[i].data);
    for (i = 0; i < call->output_count; i++) free(call->outputs[i].data);
    free(call->wrong);
    free(call->text);
    free(call->payload);
}

/* Calls the function. A case that it took for valid is refused where an attribute was asked for as
 * what it is not. */
static inline int cf_call_it(cf_call *call, int (*answer)(cf_call *, void *), void *user)
{
    int result;
    call->wrong = (char *)calloc(1, sizeof call->message);
    result = answer(call, user);
    if (result < CF_OK || result > CF_UNSUPPORTED)
        result = cf_reject(call, "the program returned %d for the call", result);
    if (result == CF_OK && call->wrong && *call->wrong)
        result = cf_reject(call, "%s", call->wrong);
    return result;
}

/* Writes a text as JSON, without its quotes: ASCII, so that any text passes. */
static inline void cf_quote(char *into, size_t room, const char *text)
{
    size_t used = 0;
    for (; *text && used + 8 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            into[used++] = '\\';
            into[used++] = (char)c;
        } else {
            into[used++] = c < 32 || c > 126 ? '?' : (char)c;
        }
    }
    into[used] = 0;
}

static inline int cf_is_big_endian(void)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one) return 0;
    fprintf(stderr, "conformance.h: this machine is big-endian; all arrays are little-endian\n");
    return 1;
}

#ifndef CF_NO_STREAMS
/* --- streams ---------------------------------------------------------------------------------- */

static inline int cf_read(int from, void *into, size_t size)
{
    unsigned char *at = (unsigned char *)into;
    while (size) {
        ssize_t got = read(from, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}

static inline int cf_write(int to, const void *from, size_t size)
{
    const unsigned char *at = (const unsigned char *)from;
    while (size) {
        ssize_t put = write(to, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        at += put;
        size -= (size_t)put;
    }
    return 1;
}

static inline void cf_put(unsigned char *at, uint64_t value, int bytes)
{
    int i;
    for (i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t cf_get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--) value = value << 8 | at[bytes];
    return value;
}

static inline int cf_send(int to, const char *text, uint64_t payload)
{
    unsigned char prefix[12];
    cf_put(prefix, strlen(text), 4);
    cf_put(prefix + 4, payload, 8);
    return cf_write(to, prefix, sizeof prefix) && cf_write(to, text, strlen(text));
}

static inline int cf_describe(cf_call *call, cf_json facts, size_t *offset, uint64_t payload)
{
    cf_array *array = &call->inputs[call->input_count];
    cf_json shape = cf_member(facts, "shape"), dtype = cf_member(facts, "dtype"), value;
    const char *at;
    long long number;
    int i;
    memset(array, 0, sizeof *array);
    if (facts.begin && *facts.begin == 'n') { /* null: an optional input that is absent */
        call->input_count++;
        return 1;
    }
    if (!shape.begin || *shape.begin != '[' || !dtype.begin || *dtype.begin != '"') return 0;
    for (i = 0; i < CF_TYPES; i++) {
        size_t length = strlen(cf_name_of((cf_dtype)i));
        if (!strncmp(dtype.begin + 1, cf_name_of((cf_dtype)i), length) &&
            dtype.begin[1 + length] == '"')
            break;
    }
    if (i == CF_TYPES) return 0;
    array->dtype = (cf_dtype)i;
    array->count = 1;
    at = shape.begin + 1;
    while (cf_next(&at, shape.end, NULL, &value)) {
        if (array->rank == CF_MAX_RANK || !cf_whole(value, &number) || number < 0) return 0;
        array->shape[array->rank++] = (int64_t)number;
        array->count *= (size_t)number;
    }
    array->bytes = array->count * cf_size_of(array->dtype);
    if (*offset + array->bytes > payload) return 0;
    array->data = malloc(array->bytes ? array->bytes : 1);
    if (!array->data) return 0;
    memcpy(array->data, call->payload + *offset, array->bytes);
    *offset += array->bytes;
    call->input_count++;
    return 1;
}

/* Reads a request: 1, or 0 at the end, or -1 for what is none. */
static inline int cf_receive(int from, cf_call *call)
{
    unsigned char prefix[12];
    uint64_t header, payload;
    size_t offset = 0;
    cf_json whole, op, inputs, value;
    const char *at;
    long long limit;
    memset(call, 0, sizeof *call);
    if (!cf_read(from, prefix, sizeof prefix)) return 0;
    header = cf_get(prefix, 4);
    payload = cf_get(prefix + 4, 8);
    if (header > CF_MAX_HEADER || payload > SIZE_MAX / 2) return -1;
    call->text = (char *)malloc((size_t)header + 1);
    call->payload = (unsigned char *)malloc(payload ? (size_t)payload : 1);
    if (!call->text || !call->payload) return -1;
    if (!cf_read(from, call->text, (size_t)header) ||
        !cf_read(from, call->payload, (size_t)payload))
        return 0;
    call->text[header] = 0;
    whole.begin = call->text;
    whole.end = call->text + header;
    op = cf_member(whole, "op");
    inputs = cf_member(whole, "inputs");
    call->attributes = cf_member(whole, "attributes");
    if (!cf_whole(cf_member(whole, "number"), &call->number) || !op.begin || *op.begin != '"' ||
        !inputs.begin || *inputs.begin != '[')
        return -1;
    for (at = op.begin + 1; at < op.end && *at != '"' && at - op.begin < 127; at++)
        call->op[at - op.begin - 1] = *at;
    call->limit = cf_whole(cf_member(whole, "limit"), &limit) ? (size_t)limit : SIZE_MAX;
    at = inputs.begin + 1;
    while (cf_next(&at, inputs.end, NULL, &value))
        if (call->input_count == CF_MAX_ARRAYS || !cf_describe(call, value, &offset, payload))
            return -1;
    return 1;
}

/* Writes the answer to a request: 1 if that went well. */
static inline int cf_respond(int to, const cf_call *call, int result, long long nanoseconds)
{
    static const char *const endings[] = {"returned", "raised", "unsupported"};
    char text[16384], message[2 * sizeof call->message];
    const unsigned char *before = call->payload;
    const char *comma = "";
    uint64_t payload = 0;
    int used, i, j;
    cf_quote(message, sizeof message, call->message);
    /* In integers: a locale may have a comma in a fraction. */
    used = snprintf(text, sizeof text,
                    "{\"number\":%lld,\"ending\":\"%s\",\"message\":\"%s\","
                    "\"seconds\":%lld.%09lld,\"changed\":[",
                    call->number, endings[result], message, nanoseconds / 1000000000,
                    nanoseconds % 1000000000);
    for (i = 0; i < call->input_count; before += call->inputs[i].bytes, i++)
        if (call->inputs[i].data && memcmp(before, call->inputs[i].data, call->inputs[i].bytes)) {
            used += snprintf(text + used, sizeof text - used, "%s%d", comma, i);
            comma = ",";
        }
    used += snprintf(text + used, sizeof text - used, "],\"outputs\":[");
    for (i = 0; result == CF_OK && i < call->output_count; i++) {
        const cf_array *made = &call->outputs[i];
        int sent = made->bytes <= call->limit;
        used += snprintf(text + used, sizeof text - used, "%s{\"dtype\":\"%s\",\"sent\":%s,\"shape\":[",
                         i ? "," : "", cf_name_of(made->dtype), sent ? "true" : "false");
        for (j = 0; j < made->rank; j++)
            used += snprintf(text + used, sizeof text - used, "%s%lld", j ? "," : "",
                             (long long)made->shape[j]);
        used += snprintf(text + used, sizeof text - used, "]}");
        payload += sent ? made->bytes : 0;
    }
    snprintf(text + used, sizeof text - used, "]}");
    if (!cf_send(to, text, payload)) return 0;
    for (i = 0; result == CF_OK && i < call->output_count; i++)
        if (call->outputs[i].bytes <= call->limit &&
            !cf_write(to, call->outputs[i].data, call->outputs[i].bytes))
            return 0;
    return 1;
}

/* Answers requests until there are no more; what main returns. `capabilities` is JSON as in
 * docs/protocol.md, or NULL for a program that claims everything. */
static inline int cf_serve(const char *name, const char *version, const char *capabilities,
                           int (*answer)(cf_call *, void *), void *user)
{
    char quoted[2][256], *text;
    int from = dup(0), to = dup(1), none = open("/dev/null", O_RDONLY), got = 0;
    size_t room = strlen(capabilities ? capabilities : "") + 1024;
    cf_call call;
    if (from < 0 || to < 0 || none < 0 || dup2(none, 0) < 0 || dup2(2, 1) < 0) {
        perror("conformance.h");
        return 2;
    }
    if (cf_is_big_endian()) return 2;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a kernel that hangs ends with the run that started it */
#endif
    cf_quote(quoted[0], sizeof quoted[0], name);
    cf_quote(quoted[1], sizeof quoted[1], version);
    text = (char *)malloc(room);
    if (!text) return 2;
    snprintf(text, room,
             "{\"hello\":{\"protocol\":%d,\"byte_order\":\"little\",\"name\":\"%s\","
             "\"version\":\"%s\",\"capabilities\":%s}}",
             CF_PROTOCOL, quoted[0], quoted[1], capabilities ? capabilities : "null");
    if (!cf_send(to, text, 0)) got = -2;
    free(text);
    while (!got && (got = cf_receive(from, &call)) == 1) {
        struct timespec begin, end;
        int result;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        result = cf_call_it(&call, answer, user);
        clock_gettime(CLOCK_MONOTONIC, &end);
        fflush(stdout);
        got = cf_respond(to, &call, result,
                         (long long)(end.tv_sec - begin.tv_sec) * 1000000000 +
                             (end.tv_nsec - begin.tv_nsec))
                  ? 0
                  : -2;
        cf_release(&call);
    }
    if (got == -1) fprintf(stderr, "conformance.h: a request that cannot be read\n");
    return got == -1 ? 2 : 0;
}
#endif /* CF_NO_STREAMS */

/* --- files ------------------------------------------------------------------------------------- */

/* Text that grows. */
typedef struct {
    char *begin;
    size_t used, room;
} cf_buffer;

static inline int cf_add(cf_buffer *text, const char *more)
{
    size_t length = strlen(more);
    if (text->used + length >= text->room) {
        size_t room = 2 * (text->room + length) + 256;
        char *larger = (char *)realloc(text->begin, room);
        if (!larger) return 0;
        text->begin = larger;
        text->room = room;
    }
    memcpy(text->begin + text->used, more, length + 1);
    text->used += length;
    return 1;
}

/* Reads a word of a line; 0 at the end of the file, or for a word that is too long. */
static inline int cf_word(FILE *from, char *into, size_t room)
{
    size_t used = 0;
    int c;
    while ((c = getc(from)) == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    for (; c != EOF && c != ' ' && c != '\t' && c != '\n' && c != '\r'; c = getc(from)) {
        if (used + 1 >= room) return 0;
        into[used++] = (char)c;
    }
    into[used] = 0;
    return used > 0;
}

static inline int cf_number(FILE *from, long long *number)
{
    char word[32];
    cf_json text;
    if (!cf_word(from, word, sizeof word)) return 0;
    text.begin = word;
    text.end = word + strlen(word);
    return cf_whole(text, number);
}

static inline int cf_expect(FILE *from, const char *expected)
{
    char word[32];
    return cf_word(from, word, sizeof word) && !strcmp(word, expected);
}

static inline FILE *cf_open(const char *folder, const char *place, const char *name,
                            const char *mode)
{
    char path[1024];
    FILE *file;
    int length = snprintf(path, sizeof path, "%s/%s%s%s", folder, place, *place ? "/" : "", name);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    if (!mode) { /* nothing to open: the file is removed */
        remove(path);
        return NULL;
    }
    file = fopen(path, mode);
    if (!file) fprintf(stderr, "conformance.h: %s cannot be opened\n", path);
    return file;
}

/* Reads the type and shape of an input, and its elements from its file. */
static inline int cf_load(FILE *cases, cf_call *call, const char *folder, const char *place)
{
    cf_array *array = &call->inputs[call->input_count];
    char word[32];
    long long rank, size;
    size_t got;
    FILE *file;
    int i;
    memset(array, 0, sizeof *array);
    if (!cf_word(cases, word, sizeof word)) return 0;
    if (!strcmp(word, "absent")) { /* an optional input that is not given has no file */
        call->input_count++;
        return 1;
    }
    for (i = 0; i < CF_TYPES && strcmp(word, cf_name_of((cf_dtype)i)); i++) continue;
    if (i == CF_TYPES || !cf_number(cases, &rank) || rank < 0 || rank > CF_MAX_RANK) return 0;
    array->dtype = (cf_dtype)i;
    array->count = 1;
    for (i = 0; i < rank; i++) {
        if (!cf_number(cases, &size) || size < 0) return 0;
        if (size > 0 && array->count > SIZE_MAX / 8 / (size_t)size) return 0;
        array->shape[array->rank++] = (int64_t)size;
        array->count *= (size_t)size;
    }
    array->bytes = array->count * cf_size_of(array->dtype);
    array->data = malloc(array->bytes ? array->bytes : 1);
    if (!array->data) return 0;
    snprintf(word, sizeof word, "in%d.bin", call->input_count++);
    file = cf_open(folder, place, word, "rb");
    if (!file) return 0;
    got = fread(array->data, 1, array->bytes, file);
    fclose(file);
    return got == array->bytes;
}

/* Reads the name, kind and value of an attribute, and writes them as JSON. */
static inline int cf_spell(FILE *cases, cf_buffer *json, int first)
{
    char word[512], quoted[1100];
    long long count, i;
    if (!cf_word(cases, word, sizeof word)) return 0;
    cf_quote(quoted, sizeof quoted, word);
    if (!cf_add(json, first ? "\"" : ",\"") || !cf_add(json, quoted) || !cf_add(json, "\":"))
        return 0;
    if (!cf_word(cases, word, sizeof word)) return 0;
    if (!strcmp(word, "ints") || !strcmp(word, "numbers")) {
        if (!cf_number(cases, &count) || count < 0 || !cf_add(json, "[")) return 0;
        for (i = 0; i < count; i++)
            if (!cf_word(cases, word, sizeof word) || !cf_add(json, i ? "," : "") ||
                !cf_add(json, word))
                return 0;
        return cf_add(json, "]");
    }
    if (!strcmp(word, "int") || !strcmp(word, "number"))
        return cf_word(cases, word, sizeof word) && cf_add(json, word);
    if (!strcmp(word, "bool"))
        return cf_number(cases, &count) && cf_add(json, count ? "true" : "false");
    if (strcmp(word, "text") || !cf_word(cases, word, sizeof word)) return 0;
    cf_quote(quoted, sizeof quoted, strcmp(word, "-") ? word : "");
    return cf_add(json, "\"") && cf_add(json, quoted) && cf_add(json, "\"");
}

/* Reads a case: 1, or 0 at the end of the file, or -1 for a line that cannot be read. */
static inline int cf_case(FILE *cases, cf_call *call, const char *folder, char *place, size_t room)
{
    cf_buffer json = {NULL, 0, 0};
    long long outputs, inputs, attributes, i;
    int good;
    memset(call, 0, sizeof *call);
    if (!cf_word(cases, place, room)) return 0;
    good = cf_word(cases, call->op, sizeof call->op) && cf_expect(cases, "outputs") &&
           cf_number(cases, &outputs) && cf_expect(cases, "inputs") && cf_number(cases, &inputs) &&
           inputs <= CF_MAX_ARRAYS;
    for (i = 0; good && i < inputs; i++) good = cf_load(cases, call, folder, place);
    good = good && cf_expect(cases, "attributes") && cf_number(cases, &attributes) &&
           cf_add(&json, "{");
    for (i = 0; good && i < attributes; i++) good = cf_spell(cases, &json, !i);
    good = good && cf_add(&json, "}");
    call->text = json.begin;
    call->attributes.begin = json.begin;
    call->attributes.end = json.begin ? json.begin + json.used : NULL;
    return good ? 1 : -1;
}

/* Writes the outputs of a case, or how it ended without any: 1 if that went well. */
static inline int cf_store(const cf_call *call, int result, const char *folder, const char *place)
{
    FILE *file;
    char name[32];
    int i, j, good = 1;
    cf_open(folder, place, "ending.txt", NULL);
    cf_open(folder, place, "out.txt", NULL);
    if (result != CF_OK) {
        file = cf_open(folder, place, "ending.txt", "w");
        if (!file) return 0;
        fprintf(file, "%s %s\n", result == CF_REJECTED ? "raised" : "unsupported", call->message);
        return !fclose(file);
    }
    for (i = 0; good && i < call->output_count; i++) {
        snprintf(name, sizeof name, "out%d.bin", i);
        file = cf_open(folder, place, name, "wb");
        if (!file) return 0;
        good = fwrite(call->outputs[i].data, 1, call->outputs[i].bytes, file) ==
               call->outputs[i].bytes;
        good = !fclose(file) && good;
    }
    file = cf_open(folder, place, "out.txt", "w");
    if (!file) return 0;
    for (i = 0; i < call->output_count; i++) {
        fprintf(file, "%s %d", cf_name_of(call->outputs[i].dtype), call->outputs[i].rank);
        for (j = 0; j < call->outputs[i].rank; j++)
            fprintf(file, " %lld", (long long)call->outputs[i].shape[j]);
        fprintf(file, "\n");
    }
    return !fclose(file) && good;
}

/* Writes device.json, with the nonce that index.json has near its beginning. */
static inline int cf_sign(const char *folder, const char *name, const char *version)
{
    char text[4096], quoted[2][256];
    cf_json whole, nonce;
    FILE *file = cf_open(folder, "", "index.json", "rb");
    if (!file) return 0;
    whole.begin = text;
    whole.end = text + fread(text, 1, sizeof text - 1, file);
    text[whole.end - text] = 0;
    fclose(file);
    nonce = cf_member(whole, "nonce");
    if (!nonce.begin || *nonce.begin != '"') {
        fprintf(stderr, "conformance.h: there is no nonce in %s/index.json\n", folder);
        return 0;
    }
    cf_quote(quoted[0], sizeof quoted[0], name);
    cf_quote(quoted[1], sizeof quoted[1], version);
    file = cf_open(folder, "", "device.json", "w");
    if (!file) return 0;
    fprintf(file, "{\"name\": \"%s\", \"version\": \"%s\", \"nonce\": %.*s}\n", quoted[0], quoted[1],
            (int)(nonce.end - nonce.begin), nonce.begin);
    return !fclose(file);
}

/* Answers all cases of a folder that `conformance export --format raw` wrote, as docs/exchange.md
 * says; what main returns. The function is that of cf_serve. */
static inline int cf_serve_files(const char *folder, const char *name, const char *version,
                                 int (*answer)(cf_call *, void *), void *user)
{
    char place[16];
    FILE *cases;
    cf_call call;
    int got = 0;
    if (cf_is_big_endian() || !cf_sign(folder, name, version)) return 2;
    cases = cf_open(folder, "", "cases.txt", "r");
    if (!cases) return 2;
    while ((got = cf_case(cases, &call, folder, place, sizeof place)) == 1) {
        int good = cf_store(&call, cf_call_it(&call, answer, user), folder, place);
        cf_release(&call);
        if (!good) break;
    }
    if (got < 0) {
        cf_release(&call);
        fprintf(stderr, "conformance.h: the line of case %s, or its files, cannot be read\n", place);
    }
    fclose(cases);
    return got ? 2 : 0;
}

#endif
