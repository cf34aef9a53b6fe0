"""How many faults of the catalogue the suites of other projects notice, beside ours.

    python tests/peers/peers_audit.py            # print the tables
    python tests/peers/peers_audit.py --write    # put them into docs/peers.md

It needs the ``onnx`` wheel, and OpenVINO's cases beside the checkout.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import peer_openvino
from peer_cases import PeerCase, agreeing, noticed

from conformance.audit.score import kinds
from conformance.core.catalogue import catalogue_mutants
from conformance.errors import SuiteError
from conformance.spec.catalogue import Mutant
from conformance.specification import find_spec
from conformance.suite.store import open_suite

DOCUMENT = Path(__file__).parents[2] / "docs" / "peers.md"
OWN = ("core", "smoke")
KINDS = 6
"""Kinds with a row of their own."""


@dataclass(frozen=True)
class Row:
    """What one suite notices of the faults that it is asked about."""

    suite: str
    op: str
    cases: int
    bytes: int
    faults: tuple[Mutant, ...]
    noticed: frozenset[str]

    def of(self, kind: str) -> tuple[int, int]:
        """How many faults of a kind are noticed, and of how many."""
        ids = [fault.id for fault in self.faults if fault.kind == kind]
        return len(self.noticed.intersection(ids)), len(ids)


@dataclass(frozen=True)
class Comparison:
    """A peer's row and our own, about the same faults; ``notes`` say what was left out."""

    peer: Row
    own: tuple[Row, ...]
    notes: tuple[str, ...]


def onnx() -> Comparison:
    """ONNX's node tests of AveragePool and GlobalAveragePool."""
    import peer_onnx
    from peer_shown import shown

    op = "AvgPool-1"
    counted = [fault for fault in catalogue_mutants(find_spec(op)) if not fault.equivalent]
    unread = [fault for fault in counted if not fault.excused_by]
    tests = peer_onnx.tests()
    cases = [peer_onnx.mapped(test) for test in tests if not peer_onnx.dilated(test)]
    known = noticed(agreeing(cases)[0], unread)
    known |= shown(op, peer_onnx.ASKS, [fault for fault in unread if fault.id not in known])
    asked = [fault for fault in unread if fault.id in known]
    notes = (
        f"Of ONNX's {len(tests)} node tests {len(tests) - len(cases)} are left out: they use "
        "dilations, which AvgPool-1 has not.",
        f"ONNX is tested with {len(asked)} of {len(counted)} mutants. "
        f"{len(counted) - len(unread)} are allowed interpretations of AvgPool-1's document, and "
        f"{len(unread) - len(asked)} show at no drawn case that ONNX can express.",
    )
    return _compared("ONNX node tests", op, cases, asked, notes)


def openvino(op: str) -> Comparison:
    """OpenVINO's reference tests of one operator, which is the same as ours."""
    counted = [fault for fault in catalogue_mutants(find_spec(op)) if not fault.equivalent]
    return _compared("OpenVINO reference tests", op, peer_openvino.cases(op), counted, ())


def _compared(
    suite: str, op: str, cases: list[PeerCase], asked: list[Mutant], notes: tuple[str, ...]
) -> Comparison:
    agreed, failed = agreeing(cases)
    if failed:
        notes += (f"{suite}: {len(failed)} expect other outputs than ours: {_names(failed)}.",)
    peer = Row(
        suite=suite,
        op=op,
        cases=len(agreed),
        bytes=sum(case.bytes for case in agreed),
        faults=tuple(asked),
        noticed=frozenset(noticed(agreed, asked)),
    )
    try:
        own = tuple(own_rows(op, asked))
    except SuiteError as error:
        own, notes = (), (*notes, "Our rows are missing: the shipped suite could not be read.")
        sys.stderr.write(f"{error}\n")
    return Comparison(peer, own, notes)


def own_rows(op: str, asked: Sequence[Mutant]) -> Iterator[Row]:
    """What the shipped suites notice of some faults at level should, by their manifest.

    Raises SuiteError if the shipped suite cannot be read.
    """
    ids = {fault.id for fault in asked}
    for name in OWN:
        manifest = open_suite(name).manifest
        entries = [e for e in manifest.vectors if e.op == op and e.reject is None]
        if not entries:
            continue  # of those that have no vectors in the repository
        yield Row(
            suite=name,
            op=op,
            cases=len(entries),
            bytes=sum(entry.bytes for entry in entries),
            faults=tuple(asked),
            noticed=frozenset(kill for entry in entries for kill in entry.kills if kill in ids),
        )


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def suite_table(found: Sequence[Comparison]) -> list[str]:
    """One row for each peer and operator, with ours about the same faults beside it."""
    names = ["suite", "operator", "mutants", "cases", "kB", "killed"]
    for name in OWN:
        names += [f"{name}: cases", "kB", "killed"]
    return [*_head(*names, text=2), *(_suite_row(one) for one in found)]


def _suite_row(one: Comparison) -> str:
    own = {row.suite: row for row in one.own}
    cells = [one.peer.suite, one.peer.op, len(one.peer.faults), *_measured(one.peer)]
    return _line(*cells, *(cell for name in OWN for cell in _measured(own.get(name))))


def _measured(row: Row | None) -> tuple[object, ...]:
    """How many cases, their kilobytes, and the share of the mutants that they kill."""
    if row is None:
        return "", "", ""
    share = 100 * len(row.noticed) / len(row.faults)
    return row.cases, max(1, round(row.bytes / 1000)), f"{share:.0f}%"


def kind_table(found: Sequence[Comparison]) -> list[str]:
    """How many faults of the kinds that are missed most the peers notice, then of all others."""
    peers = [one.peer for one in found]
    names = [f"{row.suite.split()[0]}, {row.op}" for row in peers]
    missed = {
        kind: sum(whole - count for count, whole in (row.of(kind) for row in peers))
        for kind in kinds([fault for row in peers for fault in row.faults])
    }
    order = sorted(missed, key=lambda kind: -missed[kind])
    groups = {kind: [kind] for kind in order[:KINDS]} | {"all others": order[KINDS:]}
    head = _head("kind", *names, text=1)
    rows = (_line(name, *(_of(row, group) for row in peers)) for name, group in groups.items())
    return [*head, *rows]


def _of(row: Row, group: Iterable[str]) -> str:
    count, whole = (sum(parts) for parts in zip(*map(row.of, group), strict=True))
    return f"{count}/{whole}" if whole else ""


def _head(*names: str, text: int) -> list[str]:
    return [_line(*names), _line(*["---"] * text, *["--:"] * (len(names) - text))]


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def written(text: str, tables: Mapping[str, Iterable[str]]) -> str:
    """``text`` with what stands between ``<!-- name -->`` and ``<!-- end -->`` replaced."""
    for name, rows in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
        text = f"{before}<!-- {name} -->\n{chr(10).join(rows)}\n<!-- end -->{after}"
    return text


def comparisons() -> Iterator[Comparison]:
    """The comparison with each peer, for each operator."""
    yield onnx()
    for op in dict.fromkeys(op for ops in peer_openvino.ASKED_AS.values() for op in ops):
        yield openvino(op)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write docs/peers.md")
    write = parser.parse_args().write
    if not peer_openvino.FILE.is_file() or not importlib.util.find_spec("onnx"):
        parser.error(f"needs the onnx wheel and {peer_openvino.FILE}")
    found = list(comparisons())
    tables = {
        "suites": suite_table(found),
        "notes": [f"- {note}" for note in dict.fromkeys(n for one in found for n in one.notes)],
        "kinds": kind_table(found),
    }
    for rows in tables.values():
        sys.stdout.write("\n".join(rows) + "\n\n")
    if write:
        DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8"), tables), "utf-8")


if __name__ == "__main__":
    main()
