"""The rules of pooling, and the names that its expressions may use."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.dtypes import DTYPES, FLOATS
from conformance.spec.family import Name, Rule
from conformance.spec.kinds import Domain, Kind

PATTERN_NAMES = (
    "ramp",
    "negative",
    "impulse",
    "ties",
    "nan",
    "infinite",
    "lowest",
    "zeros",
    "subnormal",
    "cancel",
    "wide",
    "normal",
    "large",
    "steady",
    "slopes",
    "mixed",
)
"""How data may be filled; ``conformance.families.pooling.patterns`` says what each holds."""

_FRACTIONS = ("nan", "infinite", "zeros", "subnormal", "cancel", "wide")
INTEGER_PATTERNS = tuple(name for name in PATTERN_NAMES if name not in _FRACTIONS)
"""Those that make sense in an integer type."""


def fills(pattern: str, dtype: str) -> bool:
    """Whether data of an element type can be filled so: integers hold no NaN, for example."""
    return DTYPES[dtype].is_float or pattern in INTEGER_PATTERNS


def _enum(*values: str) -> Kind:
    return Kind("enum", values=frozenset(values))


_CASE = Kind("int")
_AXIS_CASE = Kind("int", per_axis=True)
_AXIS_WINDOW = Kind("int", per_axis=True, domain=Domain.WINDOW)
_AXIS_TAP = Kind("int", per_axis=True, domain=Domain.TAP)
_AXIS_ELEMENT = Kind("int", per_axis=True, domain=Domain.ELEMENT, joined=True)
_ELEMENT = Kind("int", domain=Domain.ELEMENT)

NAMES: Mapping[str, Name] = {
    "rank": Name(Kind("int"), "the number of dimensions of the data"),
    "axes": Name(Kind("int"), "the number of spatial axes"),
    "axis": Name(_AXIS_CASE, "the number of the axis, from 0"),
    "pattern": Name(_enum(*PATTERN_NAMES), "how the data is filled"),
    "i": Name(_AXIS_WINDOW, "the number of the window, from 0"),
    "on_data": Name(_AXIS_WINDOW, "how many taps of the window count"),
    "n": Name(_ELEMENT, "the number of the image, from 0"),
    "c": Name(_ELEMENT, "the number of the channel, from 0"),
    "nan_taps": Name(_ELEMENT, "how many taps that count are NaN"),
    "posinf_taps": Name(_ELEMENT, "how many taps that count are +infinity"),
    "neginf_taps": Name(_ELEMENT, "how many taps that count are -infinity"),
    "subnormal_taps": Name(_ELEMENT, "how many taps that count are subnormal"),
    "negative_taps": Name(_ELEMENT, "how many taps that count are less than 0"),
    "zero_taps": Name(_ELEMENT, "how many taps that count are 0, of either sign"),
    "minus_zero_taps": Name(_ELEMENT, "how many taps that count are -0"),
    "maxima": Name(_ELEMENT, "how many taps equal the largest"),
    "position": Name(_AXIS_ELEMENT, "where the tap is that the rule 'ties' chooses"),
    "first_max": Name(_AXIS_ELEMENT, "where the first largest tap is"),
    "last_max": Name(_AXIS_ELEMENT, "where the last largest tap is"),
    "first_nan": Name(_AXIS_ELEMENT, "where the first NaN is; 0 without one"),
    "first_minus_zero": Name(_AXIS_ELEMENT, "where the first -0 is; 0 without one"),
    "t": Name(_AXIS_TAP, "the number of the tap, from 0"),
    "at": Name(_AXIS_TAP, "where the tap is, from the first element of the data"),
}

_FACTS = frozenset(name for name, one in NAMES.items() if one.kind.domain is Domain.ELEMENT) - {
    "n",
    "c",
}
_WINDOWS = frozenset({"on_data", "i"}) | _FACTS
_ADDED, _LP, _MAX = frozenset({"mean", "lp"}), frozenset({"lp"}), frozenset({"max"})

ROLES = {
    "kernel": "how many taps a window has on each axis",
    "strides": "from the start of a window to that of the next",
    "dilations": "from tap to tap",
    "output_size": "how many windows there are, where that is asked for",
    "pads_begin": "the padding before the data, as it is given",
    "pads_end": "the padding after the data, as it is given",
    "padding": "the padding of either end, where one number gives both",
    "pad_begin": "the padding before the data, as it is worked out",
    "pad_end": "the padding after the data, as it is worked out",
    "auto_pad": "the attribute that chooses how padding is worked out",
    "explicit": "its value for padding as it is given",
    "same_upper": "its value for as many windows as the size over the stride, rounded up, with the "
    "odd element of padding at the end",
    "same_lower": "as same_upper, with the odd element at the beginning",
    "valid": "its value for no padding",
    "same": "whether padding is that of same_upper or same_lower",
    "same_total": "the padding of both ends that same_upper and same_lower put on an axis",
    "span": "how far windows can move within the padded data",
    "rounding_type": "the attribute that chooses how the number of windows is rounded",
    "floor": "its value for rounding down",
    "ceil": "its value for rounding up",
    "exclude_pad": "the attribute that keeps padding out of the divisor",
}
"""Words that a specification may have other names for."""

RULES: Mapping[str, Rule] = {
    "reduce": Rule(_enum("mean", "max", "lp"), "what becomes of a window"),
    "out": Rule(_AXIS_CASE, "how many windows there are", before=_WINDOWS),
    "start": Rule(
        _AXIS_WINDOW,
        "the first tap's position, from the first element of the data",
        before=_FACTS | {"on_data"},
    ),
    "taps": Rule(_AXIS_WINDOW, "how many taps a window has", before=_FACTS | {"on_data"}),
    "step": Rule(_AXIS_WINDOW, "the distance between taps", "1", before=_FACTS | {"on_data"}),
    "tap": Rule(
        Kind("bool", per_axis=True, domain=Domain.TAP),
        "which taps count, of those on the data",
        "0 <= at and at < size",
        before=_FACTS | {"on_data"},
    ),
    "reads": Rule(
        _AXIS_TAP,
        "the position that a tap reads, beyond the data if it reads nothing",
        "at",
        before=_FACTS | {"on_data"},
    ),
    "divisor": Rule(_ELEMENT, "what a sum is divided by", "1", needed_for="mean", reduces=_ADDED),
    "zero_divisor": Rule(
        _enum("one", "divides"),
        "what a divisor of 0 is: taken for 1, or divided by, which gives an infinity or NaN",
        "one",
        reduces=_ADDED,
        floating=True,
        decides="somewhere(divisor == 0 and not open)",
    ),
    "factor": Rule(_ELEMENT, "what a sum is multiplied by", "1", reduces=_ADDED),
    "power": Rule(
        _CASE, "the power of each element that is added", "1", needed_for="lp", reduces=_LP
    ),
    "root": Rule(
        _CASE, "the degree of the root that is taken of a sum of powers", "power", reduces=_LP
    ),
    "powers_of": Rule(
        _enum("magnitudes", "elements"),
        "whether powers are of magnitudes, or of elements with their signs",
        "magnitudes",
        reduces=_LP,
    ),
    "negative_root": Rule(
        _enum("real", "not_a_number"),
        "what a root of a negative sum of powers is, if it is not the sum itself",
        "real",
        reduces=_LP,
    ),
    "open": Rule(
        Kind("bool", domain=Domain.ELEMENT), "which elements have no value to check", "false"
    ),
    "ties": Rule(
        _enum("first", "last", "any"), "which of several largest counts", "first", reduces=_MAX
    ),
    "index": Rule(_ELEMENT, "the index of the chosen tap", "flat(position, size)", reduces=_MAX),
    "index_axes": Rule(
        _enum("own", "reversed"),
        "in what order the spatial axes of an index output stand",
        "own",
        reduces=_MAX,
    ),
    "subnormals": Rule(
        _enum("kept", "flushed"), "whether subnormals may vanish", "kept", floating=True
    ),
    "image": Rule(_ELEMENT, "the image whose window an element shows", "n"),
    "channel": Rule(_ELEMENT, "the channel whose window an element shows", "c"),
    "written": Rule(Kind("bool", domain=Domain.ELEMENT), "which elements are written", "true"),
    "unwritten": Rule(
        _enum("zero", "not_a_number", "minus_infinity"),
        "what is where nothing is written; 0 in whole numbers",
        "zero",
    ),
    "pooled": Rule(
        _enum("own", "last_two"),
        "which dimensions of the data one window takes: the spatial ones, or the last two",
        "own",
    ),
    "passes_through": Rule(
        _enum("own", *FLOATS, "i32"), "a type that the data are converted to on the way", "own"
    ),
    "conversion": Rule(
        _enum("rounds", "saturates"),
        "what a conversion makes of numbers beyond its range: infinities, or the largest",
        "rounds",
        floating=True,
    ),
    "accumulator": Rule(
        _enum("exact", "own", *FLOATS),
        "what sums are kept in, added one by one",
        "exact",
        reduces=_ADDED,
    ),
    "quotient": Rule(
        _enum("exact", "own", *FLOATS, "f32_reciprocal", "own_reciprocal"),
        "what a sum is divided in, or multiplied by one over its divisor",
        "accumulator",
        reduces=_ADDED,
    ),
    "rounding": Rule(
        _enum("nearest", "toward_zero", "up_from_odd", "away", "down"),
        "how a mean is rounded; 'up_from_odd' cuts floating-point numbers off and rounds odd ones "
        "to nearest, 'away' and 'down' are of integers: with halves away from zero, or down",
        "nearest",
        reduces=_ADDED,
    ),
    "nan": Rule(
        _enum("propagates", "ignored"),
        "what a NaN makes of a mean",
        "propagates",
        reduces=_ADDED,
        floating=True,
    ),
    "infinities": Rule(
        _enum("kept", "largest", "ignored", "not_a_number"),
        "what becomes of infinities",
        "kept",
        floating=True,
    ),
    "begins": Rule(
        _enum("nothing", "zero", "lowest"),
        "what a search for the largest begins with",
        "nothing",
        reduces=_MAX,
    ),
    "order": Rule(
        _enum("numeric", "magnitude", "code", "unsigned_code", "reversed", "signed_zeros"),
        "what largest means",
        "numeric",
        reduces=_MAX,
    ),
}
"""What a specification defines."""

OUTPUTS: Mapping[str, str | None] = {"value": None, "index": "max"}
"""What an output can hold, and what ``reduce`` must be for it."""

INDEX_RULES = ("ties", "index", "index_axes")
"""Rules that nothing but an output of indices depends on."""
