"""Writes the script of a vector: inputs, call, accepted values, check."""

from __future__ import annotations

import inspect
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from conformance import TOOL
from conformance.backends import axis_order
from conformance.backends.layouts import TensorLayout
from conformance.core.operator import Operator
from conformance.dtypes import Array
from conformance.errors import EXIT_USAGE, UsageError
from conformance.grade.interpretation_match import required_precision
from conformance.grade.precision import format_precision
from conformance.model import Answer, Vector
from conformance.replacement import resolved
from conformance.repro import checker, layout_code, unpacking
from conformance.repro.literal import array_source
from conformance.repro.native import SourceCall, split_imports
from conformance.run.inline import fresh
from conformance.safe_text import visible
from conformance.specification import document_of

MAX_SIZE = 2**20
"""Characters of a script at most."""

WIDTH = 92
SPECIFIED = "as specified"


def script(
    vector: Vector,
    spec: Operator | None,
    call: SourceCall,
    backend: str,
    suite: str,
    level: str,
    precision: Mapping[str, str],
    observed: Sequence[str] = (),
    layout: TensorLayout | None = None,
    beside: Path | None = None,
) -> str:
    """Write a script that makes a call and checks its outputs.

    It exits with 1 if they are wrong, with 2 if an import fails or a program does not start.

    Args:
        spec: the specification of the vector; None if its suite has none.
        backend: name and version of what is called.
        suite: the name of the vector's suite.
        observed: lines about an earlier run of the script.
        layout: the layout of the backend's own.
        beside: the folder of the script, from which it finds the backend's. Without it the
            backend is searched for as it was named.

    Raises:
        UsageError: the vector is too large for a script.
    """
    data = "\n".join(request_lines(vector, level, precision))
    embedded = [_embedded(checker)]
    if "unpacked(" in data:
        embedded.append(_embedded(unpacking))
    if layout is not None:
        embedded.append(_embedded(axis_order))
        data = "\n".join([data, "", *layout_code.constants(layout, vector)])
    imports = {"import sys", *(line for part in (*embedded, call) for line in part.imports)}
    if "ml_dtypes." in data:
        imports.add("import ml_dtypes")
    if call.folder and beside is not None:
        imports.add("from pathlib import Path")
    text = "\n".join(
        [
            *_comment(_about(vector, spec, call, backend, suite, level, precision, observed)),
            "",
            *_imports(imports, call, beside),
            *(["", *call.setup] if call.setup else []),
            *(f"\n\n{part.body}\n" for part in embedded[1:]),
            "",
            data,
            "",
            "",
            layout_code.function(call.body, layout),
            "",
            "",
            embedded[0].body,
            "",
            "",
            "sys.exit(check(call, inputs, readings, must_reject))",
            "",
        ]
    )
    if len(text) > MAX_SIZE:
        raise UsageError(
            f"{vector.id} makes a script of {len(text)} characters, at most {MAX_SIZE} are written",
            hint="choose a smaller vector that fails in the same way",
        )
    return text


def _about(
    vector: Vector,
    spec: Operator | None,
    call: SourceCall,
    backend: str,
    suite: str,
    level: str,
    precision: Mapping[str, str],
    observed: Sequence[str],
) -> Iterator[str]:
    """Yield the comment above the script, as paragraphs."""
    yield (
        f"{vector.case.op}, tested on {backend}. Exits with 1 if the output is wrong, "
        "0 if right, 2 if nothing could be tested."
    )
    yield ""
    yield vector.description
    if vector.edges:
        yield f"Shows: {', '.join(vector.edges)}."
    if spec is not None:
        title, url = document_of(spec)
        yield f"Specified in: {title}"
        yield url
    yield ""
    but = f" unless {call.module} needs it" if call.module else ""
    yield (
        f"Vector {vector.id} of suite {suite}, level {level}, "
        f"precision {format_precision(precision)}; written by {TOOL}, "
        f"which is not needed to run this{but}. The vector is in the public domain (CC0)."
    )
    if observed:
        yield ""
        yield from observed


def _comment(paragraphs: Iterator[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        lines = textwrap.wrap(
            visible(paragraph), WIDTH, break_on_hyphens=False, break_long_words=False
        )
        yield from (f"# {line}".rstrip() for line in lines or [""])


def _imports(statements: set[str], call: SourceCall, beside: Path | None) -> list[str]:
    """Return import statements: the standard library's first, the backend's last.

    Where one fails nothing is tested, which must not look like a wrong output.
    """
    standard = {
        line for line in statements if line.split()[1].partition(".")[0] in sys.stdlib_module_names
    }
    further = sorted(statements - standard)
    if call.folder:
        insertion = f"sys.path.insert(0, {_folder(call.folder, beside)})"
        further += [f"{insertion}  # where {call.module} lies"]
    return [
        *sorted(standard),
        "",
        "try:",
        *(f"    {line}" for line in (*further, *call.loading)),
        "except Exception as error:",
        "    print(f'nothing was tested, an import failed: {error!r}')",
        f"    sys.exit({EXIT_USAGE})",
    ]


def _folder(folder: str, beside: Path | None) -> str:
    """Return an expression for the backend's folder, relative to the script if possible.

    As it was named it may be relative, and then is to the folder in which this runs.
    """
    if beside is None:
        return repr(folder)
    try:
        relative = os.path.relpath(resolved(folder), resolved(beside))
    except ValueError:  # on another drive there is none
        return repr(resolved(folder).as_posix())
    return f"str(Path(__file__).resolve().parent / {Path(relative).as_posix()!r})"


def _embedded(module: ModuleType) -> SourceCall:
    return split_imports(inspect.getsource(module), module.__name__)


def request_lines(vector: Vector, level: str, precision: Mapping[str, str]) -> Iterator[str]:
    """Yield the request and the accepted outputs, as assignments."""
    case = vector.case
    yield f"op = {case.op!r}"
    attributes = [f"    {key!r}: {value!r}," for key, value in fresh(case.attributes).items()]
    yield from ["attributes = {", *attributes, "}"] if attributes else ["attributes = {}"]
    yield "inputs = ["
    for name, array in zip(vector.argument_names, vector.arguments, strict=True):
        if array is None:
            yield "    None,  # an optional input that is absent"
        else:
            yield f"    {array_source(array, '    ')},  # {name}"
    yield "]"
    yield ""
    if case.reject is not None:
        yield "readings = {}"
        yield f"must_reject = {case.reject!r}"
        return
    yield "# Accepted values of each element: lo to hi, both included (only lo if there is no hi)."
    yield "readings = {"
    interpretations = vector.readings if level == "must" else {}
    for name, expected_outputs in {"": vector.answers, **interpretations}.items():
        yield f"    {(f'by the allowed interpretation {name}' if name else SPECIFIED)!r}: ["
        for expected_output in expected_outputs:
            yield "        {"
            yield f"            'name': {expected_output.name!r},"
            for key, array in _accepted(
                expected_output, required_precision(expected_output, precision)
            ):
                yield f"            {key!r}: {array_source(array, ' ' * 12)},"
            yield "        },"
        yield "    ],"
    yield "}"
    yield 'must_reject = ""'


def _accepted(expected_output: Answer, precision: str) -> Iterator[tuple[str, Array]]:
    """Yield the arrays that define what an output may be at a precision."""
    if expected_output.rounded is None:
        yield "equal", expected_output.expected
    elif expected_output.bits:
        yield "bits", expected_output.rounded
    else:
        lo, hi = expected_output.interval(precision)
        yield "lo", lo
        if lo.tobytes() != hi.tobytes():
            yield "hi", hi
    if expected_output.choices is not None:
        yield "choices", expected_output.choices
    unchecked = expected_output.unchecked(precision)
    if unchecked is not None and unchecked.any():
        yield "unchecked", unchecked
