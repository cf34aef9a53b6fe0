"""Plain kernels over data with the channels last, whose indices count so: HWC, within an image.

Nothing here knows of another layout. As a program it speaks the protocol of `exec:`.
"""

import sys
from math import prod

import numpy as np

from conformance.backends import Capabilities, Unsupported
from conformance.backends.numpy import (
    INDEX_TYPES,
    adaptive_spans,
    lengths,
    require,
    sum_type,
    windows,
)

CAPABILITIES = Capabilities(
    operators=("AdaptiveAvgPool-8", "AdaptiveMaxPool-8"),
    dtypes=("f16", "bf16", "f32", "f64"),
    layout=("NWC", "NHWC", "NDHWC"),
    index_layout=("WC", "HWC", "DHWC"),
)


class ChannelsLast:
    """Adaptive pools of data (N, spatial..., C)."""

    name, version = "channels-last", "1"
    capabilities = CAPABILITIES

    def run(self, op, inputs, attributes):
        if op not in CAPABILITIES.operators:
            raise Unsupported(f"{op} is not implemented")
        data, output_size = inputs
        require(data.flags.c_contiguous, "data are contiguous")
        require(3 <= data.ndim <= 5, "3 to 5 axes")
        with np.errstate(all="ignore"):
            return (pool if op == "AdaptiveMaxPool-8" else mean)(data, output_size, **attributes)


def taps_of(data, output_size):
    """Each window: where its element is, its slices, and its taps (N, taps, C)."""
    spans = adaptive_spans(data.shape[1:-1], output_size)
    for at, window in windows(spans):
        place, box = (slice(None), *at[2:]), (slice(None), *window[2:])
        yield place, window[2:], data[box].reshape(data.shape[0], -1, data.shape[-1])


def mean(data, output_size):
    spans = adaptive_spans(data.shape[1:-1], output_size)
    result = np.empty((data.shape[0], *lengths(spans), data.shape[-1]), data.dtype)
    for place, _, taps in taps_of(data, output_size):
        result[place] = taps.astype(sum_type(data)).mean(axis=1).astype(data.dtype)
    return [result]


def pool(data, output_size, *, index_element_type="i64"):
    require(index_element_type in INDEX_TYPES, "a type of indices")
    spans = adaptive_spans(data.shape[1:-1], output_size)
    values = np.empty((data.shape[0], *lengths(spans), data.shape[-1]), data.dtype)
    indices = np.empty(values.shape, INDEX_TYPES[index_element_type])
    image = np.arange(prod(data.shape[1:])).reshape(data.shape[1:])
    for place, window, taps in taps_of(data, output_size):
        first = taps.astype(sum_type(data)).argmax(axis=1)[:, None]
        values[place] = np.take_along_axis(taps, first, axis=1)[:, 0]
        counted = image[window].reshape(1, -1, data.shape[-1])
        indices[place] = np.take_along_axis(np.repeat(counted, len(data), 0), first, axis=1)[:, 0]
    return [values, indices]


def main(backend=None):
    """Answer requests on the standard streams until there are no more."""
    from conformance.run import framing, messages
    from conformance.run.executor import identity_of
    from conformance.run.inline import call

    backend, inbox = backend or ChannelsLast(), framing.Inbox()
    sys.stdout.buffer.write(messages.encode_hello(identity_of(backend)))
    sys.stdout.buffer.flush()
    while data := sys.stdin.buffer.read1(1 << 20):
        inbox.feed(data)
        while message := inbox.take(1 << 40):
            header, payload = message
            asked = messages.decode_request(header, payload)
            outcome = call(backend, header["op"], asked, header["attributes"])
            answer = messages.encode_response(header["number"], outcome, header["limit"])
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
