// Pooling of oneDNN as a backend.
//
//     c++ -O2 -I../c -o onednn onednn.cpp -ldnnl        (Debian: apt install libdnnl-dev)
//     conformance check --backend exec:./onednn
//
// What oneDNN has no rule for is declared, not worked around: it takes pads as numbers, and has no
// ceil rounding. The number of windows, which it wants to be told, is that of its documentation.
#include "conformance.h"

#include <dnnl.hpp>

using dims = dnnl::memory::dims;

static const char *const claims = R"({
    "operators": ["AvgPool-1", "MaxPool-1"], "dtypes": ["f32"],
    "excluding": [
        {"when": "auto_pad != explicit", "reason": "oneDNN takes pads as numbers"},
        {"when": "rounding_type != floor", "reason": "oneDNN rounds down"}]})";

static dims list(const cf_call *call, const char *name)
{
    int64_t values[8];
    int count = cf_ints(call, name, values, 8);
    return dims(values, values + (count < 0 ? 0 : count > 8 ? 8 : count));
}

static int answer(cf_call *call, void *user)
{
    auto &engine = *static_cast<dnnl::engine *>(user);
    const cf_array *data = cf_input(call, 0);
    dims from(data->shape, data->shape + data->rank), to(from), kernel = list(call, "kernel"),
        strides = list(call, "strides"), begin = list(call, "pads_begin"), end = list(call, "pads_end");
    auto algorithm = dnnl::algorithm::pooling_max;
    if (!strcmp(call->op, "AvgPool-1"))
        algorithm = cf_bool(call, "exclude-pad", 0) ? dnnl::algorithm::pooling_avg_exclude_padding
                                                    : dnnl::algorithm::pooling_avg_include_padding;
    else if (strcmp(call->op, "MaxPool-1"))
        return cf_unsupported(call, "no %s", call->op);
    if (!cf_is(call, "auto_pad", "explicit", "explicit") || !cf_is(call, "rounding_type", "floor", "floor"))
        return cf_unsupported(call, "pads are numbers, and the number of windows is rounded down");

    for (size_t a = 0; a < kernel.size() && a < strides.size() && a < begin.size() && a < end.size(); a++)
        if (a + 2 < from.size() && strides[a])
            to[a + 2] = (from[a + 2] - kernel[a] + begin[a] + end[a]) / strides[a] + 1;
    try {
        using memory = dnnl::memory;
        memory::format_tag tags[] = {memory::format_tag::ncw, memory::format_tag::nchw, memory::format_tag::ncdhw};
        if (data->rank < 3 || data->rank > 5) return cf_reject(call, "data has rank %d", data->rank);
        memory::desc source(from, memory::data_type::f32, tags[data->rank - 3]);
        memory::desc target(to, memory::data_type::f32, tags[data->rank - 3]);
        dnnl::pooling_forward::primitive_desc made(
            {dnnl::prop_kind::forward_inference, algorithm, source, target, strides, kernel, begin, end}, engine);
        void *out = cf_output(call, CF_F32, (int)to.size(), to.data());
        if (!out) return cf_reject(call, "no output of this shape");
        dnnl::stream stream(engine);
        memory input(source, engine, data->data), output(target, engine, out);
        dnnl::pooling_forward(made).execute(stream, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
        stream.wait();
    } catch (const dnnl::error &error) {
        return cf_reject(call, "%s", error.what());
    }
    return CF_OK;
}

int main()
{
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl_version_t *version = dnnl_version();
    std::string said = std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                       std::to_string(version->patch);
    return cf_serve("onednn", said.c_str(), claims, answer, &engine);
}
