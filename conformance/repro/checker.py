"""The checker in a script: it compares outputs, and prints whether they are right.

Its text is copied into each script; it needs only numpy.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def codes_of(array: Any) -> Any:
    """Return the bits of each element, as an integer of its width."""
    signed = np.dtype(f"i{array.dtype.itemsize}")
    return np.ascontiguousarray(array).view(signed).reshape(array.shape)


def ordinals(array: Any) -> Any:
    """Return integers in the order of the values, equal for both zeros; nothing rounds."""
    codes = codes_of(array)
    largest = np.iinfo(codes.dtype).max
    return np.where(codes < 0, -(codes & largest).astype(np.int64), codes)


def wrong_elements(got: Any, answer: dict[str, Any]) -> Any:
    """Return which elements of an output are not accepted."""
    if "bits" in answer:
        wrong = codes_of(got) != codes_of(answer["bits"])
    elif "lo" in answer:
        lo, hi = answer["lo"], answer.get("hi", answer["lo"])
        inside = (ordinals(lo) <= ordinals(got)) & (ordinals(got) <= ordinals(hi))
        wrong = np.where(np.isnan(lo), ~np.isnan(got), ~inside | np.isnan(got))
    else:
        wrong = codes_of(got) != codes_of(answer["equal"])  # a truth value is 0 or 1
    if "choices" in answer:
        choices = answer["choices"]
        right = codes_of(got)[..., np.newaxis] == codes_of(choices)
        wrong &= ~(right & is_allowed(choices)).any(axis=-1)
    return wrong & ~answer["unchecked"] if "unchecked" in answer else wrong


def is_allowed(choices: Any) -> Any:
    """Return which choices are values: the first, and others that are not -1."""
    return (choices != -1) | (choices == choices[..., :1])


def accepted(answer: dict[str, Any], index: Any) -> str:
    """Describe the accepted values of an element."""
    if "choices" in answer:
        choices = answer["choices"][index]
        return "any of " + ", ".join(dict.fromkeys(map(str, choices[is_allowed(choices)])))
    for key in ("equal", "bits"):
        if key in answer:
            return str(answer[key][index])
    lo, hi = answer["lo"][index], answer.get("hi", answer["lo"])[index]
    return str(lo) if str(lo) == str(hi) else f"{lo!s} to {hi!s}"


def differences(outputs: Any, answers: list[dict[str, Any]]) -> tuple[float, list[str]]:
    """Count the wrong elements, infinitely many in a wrong structure, and list them."""
    outputs = [outputs] if isinstance(outputs, np.ndarray) else outputs
    if type(outputs) not in (list, tuple) or len(outputs) != len(answers):
        return math.inf, [f"{len(answers)} outputs are expected, got {outputs!r:.200}"]
    count, lines = 0, []
    for got, answer in zip(outputs, answers):  # noqa: B905 - older versions of Python run this too
        name = answer["name"]
        like = next(answer[key] for key in ("lo", "equal", "bits") if key in answer)
        if type(got) is not np.ndarray or got.dtype != like.dtype or got.shape != like.shape:
            kind = f"{getattr(got, 'dtype', type(got).__name__)} {getattr(got, 'shape', '')}"
            return math.inf, [f"{name}: {kind} instead of {like.dtype} {like.shape}"]
        places = np.argwhere(wrong_elements(got, answer))
        if not len(places):
            continue
        count += len(places)
        lines.append(f"{name}: {len(places)} of {got.size} elements are wrong")
        for index in map(tuple, places[:10]):
            where = ", ".join(map(str, index))
            lines.append(f"  [{where}]: got {got[index]!s}, accepted {accepted(answer, index)}")
        if len(places) > 10:
            lines.append(f"  ... and {len(places) - 10} more")
    return count, lines


def check(
    call: Callable[[list[Any]], Any],
    inputs: list[Any],
    readings: dict[str, list[dict[str, Any]]],
    must_reject: str,
) -> int:
    """Make the call, print what is wrong with its outputs, and return the exit code.

    Outputs are right if they are so under any of ``readings``. With ``must_reject``, the rule that
    the inputs break, only an exception is right.

    Returns:
        1 if anything is wrong, else 0.
    """
    copies: list[Any] = [None if array is None else array.copy() for array in inputs]
    try:
        outputs = call(copies)
    except (Exception, SystemExit) as error:
        refused = bool(must_reject) and isinstance(error, Exception)
        word = "right: refused with" if refused else "WRONG: raised"
        print(f"{word} {type(error).__name__}: {error}")
        return 0 if refused else 1
    if must_reject:
        print(f"WRONG: accepted, should raise an exception: {must_reject}")
        return 1
    compared = {name: differences(outputs, answers) for name, answers in readings.items()}
    reading = min(compared, key=lambda name: compared[name][0])
    count, lines = compared[reading]
    if count:
        print(f"WRONG (compared {reading}):", *lines, sep="\n")
        return 1
    for i, array in enumerate(inputs):
        if array is not None and copies[i].tobytes() != array.tobytes():
            print(f"WRONG: the call changed its input {i}")
            return 1
    print(f"right, {reading}")
    return 0
