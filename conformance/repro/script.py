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
from conformance.backends import arranging
from conformance.backends.layouts import Arrangement
from conformance.dtypes import Array
from conformance.errors import EXIT_USAGE, UsageError
from conformance.grade.match import asked
from conformance.grade.precision import spell
from conformance.model import OPEN_BIT, Answer, Vector
from conformance.replacement import resolved
from conformance.repro import checker, laid_out, unpacking
from conformance.repro.literal import source
from conformance.repro.native import SourceCall, parted
from conformance.run.inline import fresh
from conformance.safe_text import visible
from conformance.spec.model import OpSpec

MAX_SIZE = 2**20
"""Characters of a script at most."""

WIDTH = 92
SPECIFIED = "as specified"


def script(
    vector: Vector,
    spec: OpSpec | None,
    call: SourceCall,
    backend: str,
    suite: str,
    level: str,
    precision: Mapping[str, str],
    observed: Sequence[str] = (),
    how: Arrangement | None = None,
    beside: Path | None = None,
) -> str:
    """The text of a script that makes the call and exits with 1 where its answer is wrong, with 2
    where something cannot be imported, or a program does not start.

    ``spec`` is the specification that the vector was made from, None if its suite has none;
    ``backend`` is the name and version of what is called, ``suite`` how the vector's suite is
    called, ``observed`` lines that say what came of it, ``how`` the layout of the backend's own.
    ``beside`` is the folder that the script lies in, from which it finds the backend's; without it
    the backend is looked for as it was named.

    Raises:
        UsageError: a vector too large for a script.
    """
    data = "\n".join(question(vector, level, precision))
    embedded = [_embedded(checker)]
    if "unpacked(" in data:
        embedded.append(_embedded(unpacking))
    if how is not None:
        embedded.append(_embedded(arranging))
        data = "\n".join([data, "", *laid_out.constants(how)])
    imports = {"import sys", *(line for part in (*embedded, call) for line in part.imports)}
    if "ml_dtypes." in data:
        imports.add("import ml_dtypes")
    if call.folder and beside is not None:
        imports.add("from pathlib import Path")
    text = "\n".join(
        [
            *_comment(_about(vector, spec, call, backend, suite, level, precision, observed)),
            "",
            *_imported(imports, call, beside),
            *(["", *call.setup] if call.setup else []),
            *(f"\n\n{part.body}\n" for part in embedded[1:]),
            "",
            data,
            "",
            "",
            laid_out.function(call.body, how),
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
    spec: OpSpec | None,
    call: SourceCall,
    backend: str,
    suite: str,
    level: str,
    precision: Mapping[str, str],
    observed: Sequence[str],
) -> Iterator[str]:
    """What stands above the script, as paragraphs."""
    yield (
        f"{vector.case.op}, tested on {backend}. Exits with 1 if the output is wrong, "
        "0 if right, 2 if nothing could be tested."
    )
    yield ""
    yield vector.description
    if vector.edges:
        yield f"Shows: {', '.join(vector.edges)}."
    if spec is not None:
        yield f"Specified in: {spec.document.title}"
        yield spec.document.url
    yield ""
    but = f" unless {call.module} needs it" if call.module else ""
    yield (
        f"Vector {vector.id} of suite {suite}, level {level}, precision {spell(precision)}; "
        f"written by {TOOL}, which is not needed to run this{but}. "
        "The vector is in the public domain (CC0)."
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


def _imported(statements: set[str], call: SourceCall, beside: Path | None) -> list[str]:
    """Import statements: the standard library's first, the backend's last.

    Where one fails nothing is tested, which is not to look like a wrong output.
    """
    own = {
        line for line in statements if line.split()[1].partition(".")[0] in sys.stdlib_module_names
    }
    others = sorted(statements - own)
    if call.folder:
        found = f"sys.path.insert(0, {_folder(call.folder, beside)})"
        others += [f"{found}  # where {call.module} lies"]
    return [
        *sorted(own),
        "",
        "try:",
        *(f"    {line}" for line in (*others, *call.loading)),
        "except Exception as error:",
        "    print(f'nothing was tested, an import failed: {error!r}')",
        f"    sys.exit({EXIT_USAGE})",
    ]


def _folder(folder: str, beside: Path | None) -> str:
    """An expression for the folder of the backend, from the place of the script where it has one.

    As it was named it may be relative, and then is to the folder in which this runs.
    """
    if beside is None:
        return repr(folder)
    try:
        way = os.path.relpath(resolved(folder), resolved(beside))
    except ValueError:  # on another drive there is none
        return repr(resolved(folder).as_posix())
    return f"str(Path(__file__).resolve().parent / {Path(way).as_posix()!r})"


def _embedded(module: ModuleType) -> SourceCall:
    return parted(inspect.getsource(module), module.__name__)


def question(vector: Vector, level: str, precision: Mapping[str, str]) -> Iterator[str]:
    """The question, and what its answer may be, as assignments."""
    case = vector.case
    yield f"op = {case.op!r}"
    attributes = [f"    {key!r}: {value!r}," for key, value in fresh(case.attributes).items()]
    yield from ["attributes = {", *attributes, "}"] if attributes else ["attributes = {}"]
    yield "inputs = ["
    for name, array in zip([*case.shapes, *case.operands], vector.inputs, strict=True):
        yield f"    {source(array, '    ')},  # {name}"
    yield "]"
    yield ""
    if case.reject is not None:
        yield "readings = {}"
        yield f"must_reject = {case.reject!r}"
        return
    yield "# Accepted values of each element: lo to hi, both included (only lo if there is no hi)."
    yield "readings = {"
    others = vector.readings if level == "must" else {}
    for name, answers in {"": vector.answers, **others}.items():
        yield f"    {(f'by the allowed interpretation {name}' if name else SPECIFIED)!r}: ["
        for answer in answers:
            yield "        {"
            yield f"            'name': {answer.name!r},"
            for key, array in _accepted(answer, asked(answer, precision)):
                yield f"            {key!r}: {source(array, ' ' * 12)},"
            yield "        },"
        yield "    ],"
    yield "}"
    yield 'must_reject = ""'


def _accepted(answer: Answer, precision: str) -> Iterator[tuple[str, Array]]:
    """The arrays that say what an output may be at a precision."""
    if answer.rounded is None:
        yield "equal", answer.expected
        if answer.choices is not None:
            yield "choices", answer.choices
    else:
        lo, hi = answer.interval(precision)
        yield "lo", lo
        if lo.tobytes() != hi.tobytes():
            yield "hi", hi
    if answer.open is not None:
        unchecked = (answer.open & OPEN_BIT[precision]) != 0
        if unchecked.any():
            yield "unchecked", unchecked
