"""Runs made up for tests, as the events that a check would write."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.log.events import FORMAT
from conformance.log.writer import LogWriter
from conformance.model import Finding, Result, Status, Witness
from conformance.verdict import ResultCounts

OPS = ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
DTYPES = ("f16", "bf16", "f32", "f64")
EDGES = ("ceil-overrun", "pads-asymmetric", "channels", "overrun-counts-pads", "stride-1", "batch")
HOSTILE = (
    "</script><script>alert(1)</script> <img src=x onerror=alert(1)> & \"'` "
    "\x1b[31mred\x1b]0;title\x07 \u202eevil\u2066 \x00 \ud800 \u200b {{ 7 * 7 }} \r\n\ttail"
)

Events = list[dict[str, Any] | Result | Finding]


def header(by_op: dict[str, dict[str, int]], **backend: Any) -> dict[str, Any]:
    return {
        "event": "header",
        "format": FORMAT,
        "tool": {"name": "opconform", "version": "0.1.0"},
        "started": "2026-03-01T12:00:05+00:00",
        "suite": {
            "name": "core-1",
            "digest": "5f0c9b1e7a2d4c8866f1e0d3b2a5978412fedcba98765432100123456789abcd",
            "format": 1,
            "vectors": sum(sum(counts.values()) for counts in by_op.values()),
            "by_op": by_op,
        },
        "backend": {
            "name": "example",
            "version": "2.4.1",
            "spec": "examples/backend.py:Example",
            "capabilities": {"ops": {"AvgPool-1": {"unless": "any(pads_begin != pads_end)"}}},
        }
        | backend,
        "options": {
            "ops": None,
            "only": [],
            "level": "must",
            "precision": dict.fromkeys(DTYPES, "standard"),
            "executor": "inline",
        },
        "environment": {
            "python": "CPython 3.11.2",
            "platform": "Linux 6.1 x86_64",
            "processor": {"model": "Example CPU @ 2.0 GHz", "flags": ["avx2", "fma", "avx512f"]},
            "cores": {"machine": 8, "usable": 4},
            "variables": {},
            "packages": {"numpy": "2.4.0", "ml_dtypes": None},
            "backend": {"threads": "4", "INFERENCE_PRECISION_HINT": "f32"},
        },
    }


def footer(results: Iterable[Result], head: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The footer that fits the results."""
    results = list(results)
    selected = {op: sum(of_op.values()) for op, of_op in head["suite"]["by_op"].items()}
    score = ResultCounts.of(selected, results)
    counts = score.counts
    graded = sum(c["graded"] for c in counts.values())
    wrong = sum(c["failed"] + c["errors"] for c in counts.values())
    passed = sum(c["passed"] for c in counts.values())
    total = sum(c["selected"] for c in counts.values())
    verdict = "not conformant" if wrong else "conformant" if graded else "nothing graded"
    return {
        "event": "footer",
        "finished": "2026-03-01T12:03:17+00:00",
        "seconds": 192.4,
        "interrupted": False,
        "counts": counts,
        "by_reading": score.by_reading,
        "precision_reached": score.reached,
        "verdict": verdict,
        "sentence": (
            f"{verdict.capitalize()}: {passed} of {total} vectors passed, {wrong} did not; "
            f"{graded} value vectors graded."
        ),
        "claim": (
            f"example 2.4.1: {'conformant' if verdict == 'conformant' else 'NOT conformant'} with "
            f"{', '.join(OPS)} (must, standard), suite core-1, {graded} of {graded} graded, "
            "sha256 5f0c9b1e"
        ),
        "strength": {"bar": 95.0, "parts": [measured()] if verdict == "conformant" else []},
        "exit_code": 0 if verdict == "conformant" else 1,
        "readings": readings(results),
        "peak_memory_bytes": 123_456_789,
    } | changes


def readings(results: Iterable[Result]) -> list[dict[str, Any]]:
    """A question with two answers, one without any, and an open one, of one operator."""
    shown: dict[str, list[Result]] = {}
    for result in results:
        for kind in result.shows.get("clip-divisor", ()):
            shown.setdefault(kind, []).append(result)
    words = {"adopted": "the whole kernel", "followed": "taps within the padded input"}
    asked = [
        ("clip-divisor", "should", "divisor of a window that overruns counted padding"),
        ("valid-is-floor", "should", "ceil with auto_pad valid"),
    ]
    return [
        {
            "op": OPS[0],
            "point": point,
            "level": level,
            "question": question,
            "answers": [
                {
                    "answer": words.get(kind, kind),
                    "adopted": kind == "adopted",
                    "vectors": len(found),
                    "dtypes": sorted({result.dtype for result in found}),
                    "example": found[0].id,
                }
                for kind, found in shown.items()
                if point == "clip-divisor"
            ],
        }
        for point, level, question in asked
    ]


def passes(number: int) -> Iterator[Result]:
    """Results that pass: some by a reading, some by being rejected, one in ten unsupported."""
    for i, op, dtype in zip(range(number), itertools.cycle(OPS), itertools.cycle(DTYPES)):
        reject = "zero-stride" if i % 7 == 3 else None
        result = Result(
            id=f"{dtype}-1x2x{i % 9 + 3}x{i % 5 + 2}-{'ramp' if i % 2 else 'normal'}-{i:08x}",
            op=op,
            status=Status.PASS,
            edges=EDGES[i % 3 : i % 3 + 1 + i % 4],
            reading="clip-divisor" if i % 11 == 5 and not reject else None,
            precision=None if reject else "exact" if i % 3 else "standard",
            dtype=dtype,
            size=20 + i % 300,
            reject=reject,
            seconds=0.0004,
        )
        if i % 10 == 9:
            reason = f"{dtype} is not built" if i % 20 == 9 else "padding must be symmetric"
            result = replace(
                result, status=Status.UNSUPPORTED, message=reason, reading=None, precision=None
            )
        elif op == OPS[0] and not reject:
            kind = "followed" if result.reading else "adopted"
            result = replace(result, shows={"clip-divisor": (kind,)})
        yield result


def by_op(results: Iterable[Result]) -> dict[str, dict[str, int]]:
    counts = {op: {"value": 0, "reject": 0} for op in OPS}
    for result in results:
        counts[result.op]["reject" if result.reject else "value"] += 1
    return counts


def passing(number: int = 200) -> Events:
    results = list(passes(number))
    head = header(by_op(results))
    return [head, *results, footer(results, head)]


def measured(killed: int = 240, **changes: Any) -> dict[str, Any]:
    """How strong the evidence is in one part, as the footer of a log has it."""
    part = {"op": OPS[0], "dtype": "f32", "rank": 4, "killed": killed, "mutants": 241}
    return {**part, "state": "measured", "profile": "", "why": ""} | changes


def weighed(*parts: dict[str, Any], number: int = 200, **changes: Any) -> Events:
    """A run without failures whose log says how strong its evidence is."""
    *rest, foot = passing(number)
    return [*rest, foot | {"strength": {"bar": 95.0, "parts": list(parts)}} | changes]


def inconclusive(*parts: dict[str, Any]) -> Events:
    """A run without failures whose vectors kill too few mutants."""
    *rest, foot = weighed(*(parts or (measured(184),)))
    sentence = foot["sentence"].replace("Conformant", "Inconclusive")
    claim = "example 2.4.1: no claim (inconclusive); strength 76.3 %, suite core-1"
    changes = {"verdict": "inconclusive", "exit_code": 4, "sentence": sentence, "claim": claim}
    return [*rest, foot | changes]


def partial() -> Events:
    """A run without failures of some vectors, which makes no claim."""
    head, *rest, foot = passing()
    assert isinstance(head, dict)
    head = head | {"options": head["options"] | {"only": ["f32"]}}
    changes = {
        "verdict": "no failures",
        "claim": "example 2.4.1: no claim (a selection of vectors)",
    }
    changes["sentence"] = "No failures: 180 of 200 vectors passed. No claim follows from that."
    return [head, *rest, foot | changes | {"strength": {"bar": 95.0, "parts": []}}]


def failing(number: int = 400) -> Events:
    """A run with findings of several kinds, one of them drawn."""
    results = list(passes(number))
    overrun = [
        replace(
            result,
            status=Status.FAIL,
            kind="value",
            message="result: 3 of 12 elements are wrong",
            precision=None,
            reading=None,
            witness=_witness(),
        )
        for result in results[6:126:12]
    ]
    raised = [
        replace(
            result,
            status=Status.ERROR,
            kind="raised",
            message="RuntimeError: could not create a primitive descriptor\n"
            "  while compiling node 'AdaptiveMaxPool_3' for element type i64",
            precision=None,
            reading=None,
        )
        for result in results[62:92:6]
    ]
    accepted = [
        replace(
            result, status=Status.FAIL, kind="accepted", message="accepted, but zero-stride ..."
        )
        for result in results[101:200:14]
        if result.reject
    ]
    replaced = {result.id: result for result in (*overrun, *raised, *accepted)}
    results = [replaced.get(result.id, result) for result in results]
    head = header(by_op(results))
    found = [
        _finding("ceil-overrun: 10 of 14 vectors with wrong values in result", overrun, _READS),
        _finding("5 of 80 vectors raised an exception", raised),
        _finding("zero-stride: accepted, though they must be rejected", accepted),
    ]
    return [head, *results, *found, footer(results, head)]


GATE = {"known_failures": "known.yaml", "require": "require.yaml", "strict": False}


def gated(number: int = 400) -> Events:
    """The failing run with its failures of one kind known, some entries out of date, and more."""
    head, *middle, _ = failing(number)
    first = next(event for event in middle if isinstance(event, Finding))
    name = "known.yaml:3"
    results = [
        replace(event, known=name if event.id in first.ids else None)
        for event in middle
        if isinstance(event, Result)
    ]
    found = [event for event in middle if isinstance(event, Finding)]
    head["options"] |= GATE
    return [
        head,
        *results,
        *found[1:],
        first,
        footer(results, head)
        | {
            "known_failures": [
                known_failure(name, failures=len(first.ids)),
                known_failure("known.yaml:9", problems=["matches nothing: no such vector"]),
            ],
            "required": [
                requirement("require.yaml:2", asked=12),
                requirement("require.yaml:5", unsupported=["a"], problems=["1 of 12 unsupported"]),
            ],
        },
    ]


def known_failure(entry: str, **changes: Any) -> dict[str, Any]:
    return {
        "entry": entry,
        "about": "AvgPool-1, edge ceil-overrun, kind value",
        "reason": "rounding up was never built",
        "link": "https://example.org/issues/12",
        "expires": "2027-03-31",
        "expired": False,
        "failures": 0,
        "shared": 0,
        "passes": [],
        "vectors": 14,
        "asked": 14,
        "missing": "",
        "problems": [],
    } | changes


def requirement(entry: str, **changes: Any) -> dict[str, Any]:
    return {
        "entry": entry,
        "about": "AvgPool-1, f16 or f32",
        "asked": 12,
        "unsupported": [],
        "reasons": {},
        "absent": [],
        "missing": "",
        "problems": [],
    } | changes


def interrupted(number: int = 120) -> Events:
    results = list(passes(number))
    head = header(by_op(results))
    done = results[: number // 3]
    foot = footer(
        done,
        head,
        interrupted=True,
        verdict="interrupted",
        sentence=f"Interrupted after {len(done)} of {number} vectors; 0 failed so far.",
        claim="example 2.4.1: no claim (interrupted); suite core-1",
        exit_code=130,
    )
    return [head, *done, foot]


def nothing_graded(number: int = 30) -> Events:
    results = [
        replace(
            result, status=Status.UNSUPPORTED, message="no kernel", reading=None, precision=None
        )
        for result in passes(number)
    ]
    head = header(by_op(results))
    return [
        head,
        *results,
        footer(
            results,
            head,
            sentence=f"No values graded: {number} unsupported.",
            claim="example 2.4.1: no claim (nothing graded); suite core-1",
            precision_reached={},
        ),
    ]


def hostile(text: str = HOSTILE) -> Events:
    """A run whose every free text is ``text``."""
    witness = Witness(text, (0, 1), text, text, text, text + "!", text, 3.0, 1, 2)
    result = Result(
        id=text,
        op="AvgPool-1",
        status=Status.FAIL,
        edges=(text,),
        message=text,
        kind=text,
        precision="exact",
        dtype=text,
        size=3,
        reject=text,
        witness=witness,
    )
    results = [
        result,
        replace(result, id="other", status=Status.UNSUPPORTED, witness=None),
        replace(result, id="fourth", known=text),
        replace(
            result,
            id="third",
            status=Status.PASS,
            reading=text,
            witness=None,
            shows={text: (text,)},
        ),
    ]
    head = header(by_op(results), name=text, version=text, spec=text, capabilities={text: [text]})
    head["environment"] = {text: text, "nested": {text: {text: text}}}
    head["suite"] |= {"name": text, "digest": text}
    head["options"]["ops"] = [text]
    head["started"] = text
    part = {"at": [], "rows": [0], "columns": [0], "counts": [[1]], "values": [[text]]}
    tensor = {"name": text, "shape": [1], "elements": 1, "padding": 0, "of_slices": 1}
    reads = {"output": text, "index": [0], "tensors": [{**tensor, "slices": [part]}]}
    reads |= {"of_terms": 2, "terms": [[text, text]]}
    detail = {"reads": reads, "show": text, text: text}
    found = Finding(
        "AvgPool-1", text, text, (text,), (text,), text, text, witness, text, detail=detail
    )
    foot = footer(results, head, sentence=text, claim=text, finished=text)
    answer = {"answer": text, "adopted": False, "vectors": 1, "dtypes": [text], "example": "third"}
    asked = {"op": "AvgPool-1", "point": text, "level": "open", "question": text}
    foot["readings"] = [{**asked, "answers": [answer]}]
    head["options"] |= {"known_failures": text, "require": text}
    words = {"about": text, "problems": [text, text]}
    known = {"reason": text, "link": text, "expires": text, "passes": [text]}
    foot["known_failures"] = [known_failure(text, failures=1, **words, **known)]
    foot["required"] = [requirement(text, unsupported=[text], reasons={text: 1}, **words)]
    return [head, *results, found, foot]


def write(path: Path, events: Events) -> Path:
    """A run log of these events."""
    with LogWriter(path) as log:
        for event in events:
            log.write(event)
    return path


_READS = {
    "output": "result",
    "index": [0, 1, 1, 1],
    "tensors": [
        {
            "name": "data",
            "shape": [1, 2, 4, 5],
            "elements": 2,
            "padding": 7,
            "of_slices": 1,
            "slices": [
                {
                    "at": [0, 1],
                    "rows": [2, 3, 4, 5],
                    "columns": [2, 3, 4, 5],
                    "counts": [[0, 0, 0, 0], *[[0, 1, 1, 1]] * 3],
                    "values": [
                        ["13", "14", "15", ""],
                        ["18", "19", "20", ""],
                        *[[""] * 4] * 2,
                    ],
                }
            ],
        }
    ],
    "of_terms": 0,
    "terms": [],
}


def _witness() -> Witness:
    return Witness(
        output="result",
        index=(0, 1, 1, 1),
        exact="12.666666666666666",
        rounded="12.666667",
        lo="12.666666",
        hi="12.666668",
        got="8.444445",
        ulp=4427423.0,
        wrong=3,
        total=12,
    )


def distinct(finding: Finding, count: int) -> tuple[Finding, ...]:
    """That many findings like one, each of a cause of its own."""
    faults = [{"id": f"bug-{n:04}", "says": f"Bug {n:04}."} for n in range(count)]
    return tuple(replace(finding, diagnosis={"faults": [fault]}) for fault in faults)


def _finding(title: str, results: list[Result], reads: Any = None) -> Finding:
    smallest = min(results, key=lambda result: (result.size, result.id))
    shared = set(smallest.edges).intersection(*(result.edges for result in results))
    return Finding(
        op=smallest.op,
        kind=smallest.kind,
        title=title,
        ids=tuple(result.id for result in results),
        edges=tuple(edge for edge in smallest.edges if edge in shared),
        smallest=smallest.id,
        message=smallest.message,
        witness=smallest.witness,
        reproduce=f"conformance check --backend examples/backend.py:Example --level must "
        f"--precision standard --op {smallest.op} --only {smallest.id}",
        detail={"show": f"conformance show {smallest.id} --backend examples/backend.py:Example"}
        | ({"reads": reads} if reads else {}),
    )
