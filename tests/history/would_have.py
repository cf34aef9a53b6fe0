"""From the logs of runs to what became of each defect."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from conformance.log.reader import read
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Finding, Result
from conformance.suite.store import Suite, open_suite

FILE = Path(__file__).parent / "defects.yaml"
UNTUNED = Path(__file__).parent / "untuned.json"
MOST = 3
"""How many names a finding may give: with more it names nothing."""

Defect = Mapping[str, Any]


def expectations() -> dict[str, Any]:
    """``runs`` by name, and the list of ``defects``."""
    read_: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return read_


def before() -> dict[str, Any]:
    """What was counted on wheels before anything was tuned for them; it is not counted again."""
    read_: dict[str, Any] = json.loads(UNTUNED.read_text(encoding="utf-8"))
    return read_


def graded(name: str, log: Path, suite: Path | None, expected: Mapping[str, Any]) -> dict[str, Any]:
    """What the log of one run says of the defects that are ``expected`` of it, as JSON data.

    ``suite`` is the folder of the suite that was graded, None the shipped one.
    """
    run, opened = read(log), open_suite(suite)
    mine = [one for one in expected["defects"] if one["run"] == name]
    besides = [one for one in expected.get("besides", ()) if name in one["runs"]]
    told = [_defect(one, run, opened) for one in mine]
    wrong = [one for one in run.results if one.status in FAILED and one.reject is None]
    explained = {vector for finding in run.findings if names(finding) for vector in finding.ids}
    return {
        "backend": f"{run.header['backend']['name']} {run.header['backend']['version']}",
        "vectors": sum(one.reject is None for one in run.results),
        "wrong": len(wrong),
        "wrong outputs": sum(_has_outputs(one) for one in wrong),
        "named outputs": sum(_has_outputs(one) and one.id in explained for one in wrong),
        "unexpected": list(_unexpected(run, [*mine, *besides])),
        "defects": told,
    }


def names(finding: Finding) -> list[list[str]]:
    """What a finding says that it is: mutants, together or as alternatives; none if too many."""
    diagnosis = finding.diagnosis or {}
    if not diagnosis.get("faults"):
        return []
    found = [[one["id"] for one in diagnosis["faults"]]]
    found += [list(one["ids"]) for one in diagnosis.get("alternatives", [])]
    return found if len(found) <= MOST else []


def _defect(defect: Defect, run: RunLog, suite: Suite) -> dict[str, Any]:
    """Whether a defect was caught, and how it was named: ``right``, ``silent`` or ``missed``."""
    expected = set(defect["names"])
    about = [one for one in run.findings if one.op == defect["op"]]
    right = sorted(
        {name for one in about for joined in names(one) for name in joined if name in expected}
    )
    failing = _failing(defect, run, suite)
    verdict = "right" if right else "silent" if failing else "missed"
    return {
        "op": defect["op"],
        "says": defect["says"],
        "verdict": verdict,
        "names": right,
        "vectors": len(failing),
    }


def _failing(defect: Defect, run: RunLog, suite: Suite) -> list[Result]:
    """The failures that show a defect: of vectors that kill its mutants, or of its kind."""
    wrong = [
        one
        for one in run.results
        if one.op == defect["op"] and one.status in FAILED and one.reject is None
    ]
    if "kind" in defect:
        wrong = [one for one in wrong if one.kind == defect["kind"]]
    if not defect["names"]:
        return wrong
    kills = {entry.id: entry.kills for entry in suite.manifest.vectors if entry.op == defect["op"]}
    expected = set(defect["names"])
    return [one for one in wrong if _has_outputs(one) and expected & set(kills[one.id])]


def _has_outputs(result: Result) -> bool:
    return result.kind in ("value", "index", "shape")


def _unexpected(run: RunLog, defects: Sequence[Defect]) -> Iterable[dict[str, Any]]:
    """Findings whose names nothing known of the run has: each is wrong, or not known yet."""
    for finding in run.findings:
        found = names(finding)
        expected = {name for one in defects if one["op"] == finding.op for name in one["names"]}
        if found and not any(expected & set(joined) for joined in found):
            yield {
                "op": finding.op,
                "names": [" and ".join(joined) for joined in found],
                "vectors": len(finding.ids),
            }
