"""Commands on a packed suite say what they say on the folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiers
from click.testing import CliRunner, Result

import conformance
from conformance.cli import main
from conformance.log import results as kept
from conformance.log.encoding import encode
from conformance.log.events import as_event
from conformance.log.reader import read
from conformance.suite import packing
from conformance.suite.containers import open_container
from conformance.suite.packing import pack_suite, unpack_suite
from conformance.suite.store import Suite, open_suite

WRONG = """
from conformance.backends.numpy import NumPy
class Mine(NumPy):
    name = "mine"
    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        return [outputs[0] + 1, *outputs[1:]] if inputs[0].dtype == "f2" else outputs
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Some vectors of two operators."""
    smoke = tiers.smoke()
    ops = {"AvgPool-1": 6, "AdaptiveAvgPool-8": 4}
    manifest = replace(
        smoke.manifest,
        name="some",
        listed=tuple(e for op, step in ops.items() for e in smoke.manifest.of([op])[::step]),
        strength={op: smoke.manifest.strength[op] for op in ops},
        specifications={op: smoke.manifest.specifications[op] for op in ops},
    )
    return unpack_suite(replace(smoke, manifest=manifest), tmp_path_factory.mktemp("f") / "suite")


@pytest.fixture(scope="module")
def packed(folder: Suite, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "MAX_VECTORS", 7)
        return pack_suite(folder, tmp_path_factory.mktemp("packed") / "suite")


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("backend") / "mine.py"
    file.write_text(WRONG)
    return f"{file}:Mine"


def command(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def told(run: Any) -> list[Any]:
    """Results, findings and footer, without times and what names the suite's folder."""
    text = "\n".join(encode(as_event(e)) for e in (*run.results, *run.findings, run.footer))
    text = re.sub(r'"(seconds|finished|peak_memory_bytes)":[^,}]+', "", text)
    return re.sub(r"--suite \S+", "", text).splitlines()


def check(suite: Suite, backend: str, **more: Any) -> Any:
    return conformance.check(suite, backend, executor="inline", **more).log


def test_a_check_says_the_same(packed: Suite, folder: Suite, backend: str) -> None:
    one, other = check(packed, backend), check(folder, backend)
    assert told(one) == told(other)
    assert one.findings
    assert one.header["suite"] | {"format": 1} == other.header["suite"]


@pytest.mark.parametrize("of", [2, 5])
def test_shards_together_are_the_run(packed: Suite, backend: str, tmp_path: Path, of: int) -> None:
    for number in range(1, of + 1):
        words = ("--shard", f"{number}/{of}", "--out", tmp_path / str(number))
        check_words = ("check", "--suite", packed.path, "--backend", backend)
        shown = command(*check_words, "--executor", "inline", *words)
        assert shown.exit_code in (0, 1), shown.output
    logs = [tmp_path / str(number) / "run.jsonl" for number in range(of, 0, -1)]
    merged = conformance.merge(logs, packed)
    assert told(merged.log) == told(check(packed, backend))


def test_packed_results_change_nothing(
    packed: Suite, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = check(packed, backend)
    monkeypatch.setattr(kept, "UNPACKED", 3)
    words = ("--suite", packed.path, "--backend", backend, "--executor", "inline")
    shown = command("check", *words, "--out", tmp_path)
    assert shown.exit_code == 1, shown.output
    log = read(tmp_path / "run.jsonl")
    assert log.complete
    assert told(log) == told(plain)
    assert "verdict" in (tmp_path / "index.html").read_text("utf-8")


def test_a_run_is_resumed(packed: Suite, backend: str, tmp_path: Path) -> None:
    words = ("check", "--suite", packed.path, "--backend", backend, "--executor", "inline")
    command(*words, "--out", tmp_path)
    log = tmp_path / "run.jsonl"
    whole = read(log)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:10]))
    resumed = command(*words, "--out", tmp_path, "--resume")
    assert f"9 of {len(packed)} vectors are done" in resumed.output
    assert told(read(log)) == told(whole)


def test_a_digest_that_is_not_true_is_never_claimed(
    packed: Suite, backend: str, tmp_path: Path
) -> None:
    """A run of a part makes no claim and goes on; the whole, and merging, are refused."""
    again = pack_suite(packed, tmp_path / "again")
    file = again.path / "manifest.json"
    logs = [tmp_path / n / "run.jsonl" for n in "12"]
    document = json.loads(file.read_bytes()) | {"digest": "0" * 64}
    file.write_text(json.dumps(document))
    words = ("check", "--suite", again.path, "--backend", backend, "--executor", "inline")
    refused = command(*words, "--out", tmp_path / "whole")
    assert refused.exit_code == 2
    assert "its digest are not those of the containers" in refused.output
    assert not (tmp_path / "whole" / "run.jsonl").exists()
    for number, log in enumerate(logs, 1):
        part = command(*words, "--shard", f"{number}/2", "--out", log.parent)
        assert part.exit_code in (0, 1), part.output
    merged = command("merge", *logs, "--suite", again.path, "--out", tmp_path / "merged")
    assert merged.exit_code == 2, merged.output
    assert "its digest are not those" in merged.output


@pytest.mark.parametrize(
    "words",
    [
        lambda path, out: ("suite", "lint", path),
        lambda path, out: ("suite", "audit", "--suite", path, "--op", "AdaptiveAvgPool-8"),
        lambda path, out: ("suite", "coverage", "--suite", path, "--op", "AdaptiveAvgPool-8"),
        lambda path, out: ("export", "--suite", path, "--format", "npy", "--out", out),
    ],
    ids=["lint", "audit", "coverage", "export"],
)
def test_other_commands_say_the_same(
    packed: Suite,
    folder: Suite,
    tmp_path: Path,
    words: Callable[[Path, Path], tuple[object, ...]],
) -> None:
    shown = []
    for suite in (packed, folder):
        result = command(*words(suite.path, tmp_path / suite.path.parent.name))
        text = result.output.replace(str(suite.path), "SUITE")
        text = text.replace(str(tmp_path / suite.path.parent.name), "OUT")
        shown.append((result.exit_code, re.sub(r"nonce\W+\w+", "", text)))
    assert shown[0] == shown[1]
    assert shown[0][0] in (0, 1), shown  # it is too small to be complete


def test_one_is_shown_by_its_digest(packed: Suite, folder: Suite) -> None:
    entry = folder.manifest.vectors[0]
    shown = command("show", entry.id[-8:], "--suite", packed.path)
    assert shown.exit_code == 0, shown.output
    assert shown.output == command("show", entry.id, "--suite", folder.path).output


def test_pack_and_unpack(folder: Suite, tmp_path: Path) -> None:
    open_container.cache_clear()
    made = command("suite", "pack", folder.path, "--out", tmp_path / "packed")
    assert made.exit_code == 0, made.output
    assert f"{len(folder)} vectors in " in made.output
    assert f"sha256 {folder.digest}" in made.output
    refused = command("suite", "pack", "smoke", "--out", tmp_path / "packed")
    assert refused.exit_code == 2
    assert "there is another suite, which would be lost" in refused.stderr
    back = command("suite", "unpack", tmp_path / "packed", "--out", tmp_path / "back")
    assert back.exit_code == 0, back.output
    assert open_suite(tmp_path / "back").manifest == folder.manifest
