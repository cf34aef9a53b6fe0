"""``conformance probe`` as users run it: the page, the JSON, and two of them compared."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from known_kernels import MAKES, Array, Backend, below, mean, reciprocal

from conformance.cli import main
from conformance.errors import SuiteError
from conformance.probe import page, session
from conformance.probe.record import FILE, encode_probe, probe_document, read_probe
from conformance.probe.wording import probe_lines
from conformance.run.inline import Inline
from conformance.specification import select_specs

HERE = Path(__file__).parent
LIB = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from test_probe_cli import Broken, Threads
"""


class Lib(Backend):
    def __init__(self) -> None:
        super().__init__(next(one for one in MAKES if one.name == "naive"))
        self.name = "lib"


class Later(Lib):
    def __init__(self) -> None:
        super().__init__()
        self._kernel = below(9, mean(), reciprocal())


class Threads(Lib):
    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        (result,) = super().run(op, inputs, attributes)
        return [result + result.dtype.type(os.environ.get("OMP_NUM_THREADS") == "1")]


class Broken(Lib):
    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        if inputs[0].shape[-1] in (3, 9):
            raise ValueError("<b>\x1b[31m nine")
        return super().run(op, inputs, attributes)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # As a test that ran before in this process may have left it.
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "lib.py").write_text(LIB)
    return tmp_path


def probe(*words: str) -> Result:
    return CliRunner().invoke(main, ["probe", *words])


def made(kernel: type[Lib], out: str = "") -> dict[str, Any]:
    """A probe in this process, written into a folder if there is one."""
    specs = select_specs(("onnx.GlobalAveragePool-22",))
    asked = session.ProbeRequest(sizes=(3, 9))
    outcome = session.probe(lambda _: Inline(kernel()), specs, asked, elsewhere=False)
    found = probe_document(outcome, "lib")
    if out:
        Path(out).mkdir()
        (Path(out) / FILE).write_bytes(encode_probe(found))
    return found


def said(found: dict[str, Any], name: str) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (one["verdict"], tuple(one["values"]))
        for one in found["statements"]
        if one["property"] == name and one["window"] == "row"
    }


def test_page_file_and_processes(elsewhere: Path) -> None:
    result = probe("--backend", "lib.py:Threads", "--sizes", "9", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "\n  division: divided [f32]\n" in result.stdout
    assert "no proof" in result.stdout
    found = read_probe(Path("out") / FILE)
    text = (elsewhere / "out" / "index.html").read_text()
    assert said(found, "division") == {("contradicts all other listed models", ("divided",))}
    assert said(found, "repeated calls") == {("consistent with", ("the same results",))}
    assert {value for _, value in said(found, "with 1 thread")} == {("other results",)}
    assert {value for _, value in said(found, "another process")} == {("the same results",)}
    assert [one["about"] for one in found["processes"]][:2] == ["another process", "with 1 thread"]
    assert found["processes"][1]["variables"]["OMP_NUM_THREADS"] == "1"
    assert "contradicts all other listed models" in text
    assert "onnx.GlobalAveragePool-22" in text
    assert "://" not in text
    # What shows a statement: inputs and results, from which anybody can work it out again.
    calls = {call["id"]: call for call in found["calls"]}
    for one in found["statements"]:
        if one["contradicted"]:
            assert one["shown_by"]
        for call, place in one["shown_by"]:
            _, _, inputs, result = calls[call]["planes"][place]
            assert sum(count for count, _ in found["inputs"][inputs]) == calls[call]["elements"]
            assert len(result) == 8


def test_a_backend_that_always_fails_is_no_success(elsewhere: Path) -> None:
    result = probe("--backend", "lib.py:Broken", "--sizes", "9", "--out", "out")
    assert result.exit_code == 1
    assert "calls gave no results; the first: raised: ValueError" in result.stdout
    assert read_probe(Path("out") / FILE)["statements"] == []


def test_calls_that_fail_are_told() -> None:
    found = made(Broken)
    failed = [call for call in found["calls"] if call["message"]]
    assert {call["elements"] for call in failed} == {3, 9}
    assert "ValueError" in failed[0]["message"]
    text = page.render(found)
    assert "<b>" not in text
    assert "\x1b" not in text
    assert f"{len(failed)} calls gave no results" in "\n".join(probe_lines(found))


def test_two_versions_are_told_apart() -> None:
    made(Lib, "old")
    made(Later, "new")
    same = probe("--compare", "old/probe.json", "old/probe.json")
    assert same.exit_code == 0
    assert "nothing differs" in same.stdout
    result = probe("--compare", "old/probe.json", "new/probe.json")
    assert result.exit_code == 1
    assert "row of 9 elements, division: divided -> times one over the number" in result.stdout
    assert "different results in 2 calls" in result.stdout
    assert "3 elements" not in result.stdout


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda found: found.pop("seed"), "seed"),
        (lambda found: found["statements"][0].update(verdict="proved"), "verdict"),
        (lambda found: found["statements"][0].update(shown_by=[["nothing", 0]]), "no result"),
        (lambda found: found["inputs"].clear(), "no inputs"),
        (lambda found: found.update(format=9), "format 9"),
    ],
)
def test_a_changed_file_is_refused(elsewhere: Path, change: Any, why: str) -> None:
    found = json.loads(json.dumps(SMALL))
    change(found)
    path = elsewhere / "probe.json"
    path.write_text(json.dumps(found))
    with pytest.raises(SuiteError, match=why):
        read_probe(path)


def test_a_whole_file_is_read(elsewhere: Path) -> None:
    path = elsewhere / "probe.json"
    path.write_text(json.dumps(SMALL))
    assert read_probe(path) == SMALL


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "no backend is named"),
        (("--backend", "numpy", "--sizes", "1"), "not sizes of windows"),
        (("--backend", "numpy", "--sizes", "two"), "not sizes of windows"),
        (("--backend", "lib.py:Threads", "--op", "AvgPool-1"), "declares no mean and no maximum"),
        (("--compare", "no.json", "no.json"), "no.json"),
        (
            ("--backend", "numpy", "--compare", "a", "b"),
            "cannot be combined with --backend",
        ),
    ],
)
def test_wrong_usage(words: tuple[str, ...], why: str) -> None:
    result = probe(*words)
    assert result.exit_code == 2
    assert why in result.output


@pytest.mark.parametrize(
    "start", [b'{"event":"header","format":1}\n', gzip.compress(b"{}\n", mtime=0)]
)
def test_run_logs_are_not_compared(elsewhere: Path, start: bytes) -> None:
    (elsewhere / "run.jsonl").write_bytes(start)
    result = probe("--compare", "run.jsonl", "run.jsonl")
    assert result.exit_code == 2
    assert "run.jsonl: this is a run log, not a probe.json" in result.output
    assert "conformance compare OLD NEW" in result.output


SMALL: dict[str, Any] = {
    "format": 1,
    "tool": "opconform",
    "started": "2026-01-01T00:00:00+00:00",
    "backend": {"spec": "lib", "name": "lib", "version": "1"},
    "facts": {},
    "environment": {},
    "seed": 0,
    "processes": [],
    "statements": [
        {
            "op": "AvgPool-1",
            "dtype": "f32",
            "window": "row",
            "property": "division",
            "sizes": [3],
            "verdict": "consistent with",
            "values": ["divided"],
            "contradicted": ["reciprocal"],
            "shown_by": [["one", 0]],
            "note": "",
        }
    ],
    "fits": [],
    "skipped": [],
    "calls": [
        {
            "id": "one",
            "op": "AvgPool-1",
            "dtype": "f32",
            "window": "row",
            "elements": 3,
            "across": 1,
            "case": {},
            "message": "",
            "planes": [["designed", "designed input 1", "0123456789ab", "3f800000"]],
        }
    ],
    "inputs": {"0123456789ab": [[3, "3f800000"]]},
}
