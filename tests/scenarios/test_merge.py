"""``check --shard`` and ``conformance merge``: together they are the run in one piece."""

from __future__ import annotations

import json
import shlex
from itertools import product

import pytest
import tiers
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.errors import UsageError
from conformance.log.encoding import encode
from conformance.log.reader import read

# Wrong for f16, refuses f64, and reads one question of AvgPool-1 otherwise.
ADAPTER = """
import os
from conformance.backends.reference import Reference
from conformance.errors import Unsupported
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, interpretation_changes

class Mine(Reference):
    name = "mine"
    version = os.environ.get("MINE_VERSION", "1.0")
    def environment(self):
        return {"threads": os.environ.get("MINE_THREADS", "1")}
    def run(self, op, inputs, attributes):
        if inputs[0].dtype == "f8":
            raise Unsupported("no f64")
        outputs = super().run(op, inputs, attributes)
        if op == "AvgPool-1" and inputs[0].dtype == "f4":
            spec = find_spec(op)
            clip = implementation_of(spec, interpretation_changes(spec)["clip-divisor"])
            case = case_from_inputs(spec, inputs, attributes)
            return list(subject_of(spec, case, inputs).under(clip))
        return [outputs[0] + 1, *outputs[1:]] if outputs[0].dtype == "f2" else outputs
"""

SAID = (
    *("verdict", "sentence", "claim", "exit_code", "counts", "by_reading", "precision_reached"),
    *("readings", "interrupted"),
)


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    file = tmp_path_factory.mktemp("backend") / "mine.py"
    file.write_text(ADAPTER)
    return f"{file}:Mine"


@pytest.fixture(scope="module")
def check(small_suite, backend):
    def run(report, *more):
        words = ["check", "--suite", str(small_suite.path), "--backend", backend]
        if not {"-j", "--timeout", "--executor"} & set(more):
            words += ["--executor", "inline"]  # it takes less time
        shown = CliRunner().invoke(main, [*words, "--out", str(report), *map(str, more)])
        assert (report / "run.jsonl").exists(), shown.output
        return shown

    return run


@pytest.fixture(scope="module")
def shards(check, tmp_path_factory):
    """The folders of the shards of a run in so many parts."""
    made = {}

    def of(number, *more):
        key = (number, more)
        if key not in made:
            made[key] = [tmp_path_factory.mktemp("shard") for _ in range(number)]
            for k, folder in enumerate(made[key], 1):
                check(folder, "--shard", f"{k}/{number}", *more)
        return [folder / "run.jsonl" for folder in made[key]]

    return of


@pytest.fixture
def merge(small_suite, tmp_path):
    def run(*logs, suite=small_suite.path, out=tmp_path / "merged"):
        words = ["merge", *map(str, logs), "--out", str(out), "--suite", str(suite)]
        return CliRunner().invoke(main, words)

    return run


def facts(run):
    return {
        "findings": run.findings,
        "results": [(r.id, r.status, r.message, r.reading, r.shows) for r in run.results],
        "header": {name: run.header[name] for name in ("suite", "backend", "options")},
        **{name: run.footer[name] for name in SAID},
    }


NUMBERS = (1, 3, 2, 8)
OPTIONS = (
    (),
    ("--shuffle", 3, "--level", "should"),
    ("--repeat", 2, "--timeout", 20, "--memory", "4G"),
    ("--executor", "inline", "--precision", "f16=native"),
)
EVERY = [*product(NUMBERS, OPTIONS)]
PAIRS = [*zip(NUMBERS, OPTIONS, strict=True)]
"""Each number of shards with other options."""


class TestTheWhole:
    @pytest.mark.parametrize(
        ("number", "more"),
        tiers.sweep(PAIRS + [pair for pair in EVERY if pair not in PAIRS], lambda *pair: pair),
    )
    def test_is_the_run_in_one_piece(self, check, shards, merge, tmp_path, number, more):
        whole = check(tmp_path / "whole", *more)
        shown = merge(*shards(number, *more)[::-1])
        assert shown.exit_code == whole.exit_code == 1
        log = read(tmp_path / "merged" / "run.jsonl")
        assert log.problems == ()
        one = read(tmp_path / "whole" / "run.jsonl")
        assert one.findings
        assert one.findings[0].detail["plane"]
        assert facts(log) == facts(one)
        assert shown.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]
        page = (tmp_path / "merged" / "index.html").read_text()
        assert "<dt>Shard</dt>" not in page
        assert ("<dt>Shuffle</dt><dd>3</dd>" in page) == ("--shuffle" in more)
        words = shlex.join(map(str, more)).replace("--shuffle 3 ", "").split(" --")
        assert all(word in one.findings[0].reproduce for word in words)

    def test_of_a_sound_backend_makes_the_claim_that_no_shard_makes(self, small_suite, tmp_path):
        logs = []
        for k in (1, 2):
            words = ["check", "--suite", str(small_suite.path), "--backend", "reference"]
            words += ["--shard", f"{k}/2", "--out", str(tmp_path / str(k))]
            shown = CliRunner().invoke(main, words)
            assert shown.exit_code == 0
            assert f"no claim (shard {k}/2 alone)" in shown.stdout.splitlines()[-1]
            assert f", shard {k}/2" in shown.stdout.splitlines()[0]
            assert f"<dd>{k}/2</dd>" in (tmp_path / str(k) / "index.html").read_text()
            logs.append(tmp_path / str(k) / "run.jsonl")
        run = conformance.merge(logs, small_suite.path)
        assert run.conformant
        plain = conformance.check(small_suite.path, "reference")
        assert run.footer["claim"] == plain.footer["claim"]
        assert "conformant with" in run.footer["claim"]
        assert "NOT" not in run.footer["claim"]

    def test_of_a_selection_makes_no_claim_either(self, shards, merge):
        shown = merge(*shards(2, "--only", "f32-"))
        assert "no claim (a selection of vectors)" in shown.stdout.splitlines()[-1]

    def test_a_shuffled_run_says_the_same_as_a_plain_one(self, check, tmp_path):
        orders = set()
        said = []
        for n, more in enumerate([(), ("--shuffle", 1), ("--shuffle", 2)]):
            check(tmp_path / str(n), *more)
            run = read(tmp_path / str(n) / "run.jsonl")
            orders.add(tuple(result.id for result in run.results))
            found = facts(run)
            found["results"] = sorted(found["results"])
            assert found["header"].pop("options")["shuffle"] == (more[1] if more else None)
            said.append(found)
        assert len(orders) == 3
        assert said[0] == said[1] == said[2]

    @pytest.mark.exhaustive
    def test_says_that_a_shard_gave_the_backend_up(self, small_suite, merge, tmp_path):
        file = tmp_path / "dead.py"
        file.write_text("import os\n\ndef run(op, inputs, attributes):\n    os.abort()\n")
        for k in (1, 2):
            words = ["check", "--suite", str(small_suite.path), "--backend", f"{file}:run"]
            words += ["--shard", f"{k}/2", "--out", str(tmp_path / str(k))]
            assert CliRunner().invoke(main, words).exit_code == 1
        merge(tmp_path / "1" / "run.jsonl", tmp_path / "2" / "run.jsonl")
        sentence = read(tmp_path / "merged" / "run.jsonl").footer["sentence"]
        assert sentence.count("Ended early: the backend lost its process on every vector") == 1

    def test_made_in_several_places_tells_of_each(self, check, merge, tmp_path, monkeypatch):
        for k in (1, 2):
            monkeypatch.setenv("MINE_THREADS", str(k))
            check(tmp_path / str(k), "--shard", f"{k}/2")
        merge(tmp_path / "1" / "run.jsonl", tmp_path / "2" / "run.jsonl")
        place = read(tmp_path / "merged" / "run.jsonl").header["environment"]
        assert place["shards"] == 2
        assert [place[f"shard {k}"]["backend"]["threads"] for k in (1, 2)] == ["1", "2"]
        assert "python" in place
        assert "backend" not in place

    @pytest.mark.exhaustive
    def test_made_with_different_numbers_of_processes_does_not_tell_one(
        self, check, shards, merge, tmp_path
    ):
        check(tmp_path / "2", "--shard", "2/2", "-j", 2)
        out = tmp_path / "merged"
        shown = merge(shards(2, "--executor", "process")[0], tmp_path / "2" / "run.jsonl", out=out)
        assert shown.exit_code == 1, shown.stderr
        assert "jobs" not in read(out / "run.jsonl").header["options"]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("name", tiers.first(["smoke", "core"]))
    def test_the_shipped_suite_is_the_one_that_the_logs_name(self, tmp_path, name):
        logs = []
        for k in (1, 2):
            words = ["check", "--suite", name, "--backend", "numpy", "--only", "f32-1x1x"]
            report = tmp_path / str(k)
            CliRunner().invoke(main, [*words, "--shard", f"{k}/2", "--out", str(report)])
            logs.append(str(report / "run.jsonl"))
        out = tmp_path / "merged"
        shown = CliRunner().invoke(main, ["merge", *logs, "--out", str(out)])
        assert shown.exit_code == 0, shown.stderr
        assert read(out / "run.jsonl").header["suite"]["name"] == name


class TestRefused:
    """What is not all of one run is no run; the folder stays as it was."""

    def refused(self, merge, tmp_path, *logs, **more):
        out = tmp_path / "merged"
        out.mkdir(exist_ok=True)
        (out / "index.html").write_text("earlier")
        shown = merge(*logs, **more)
        assert shown.exit_code == 2, shown.output
        assert "hint: " in shown.stderr
        assert shown.stdout == ""
        assert [file.name for file in out.iterdir()] == ["index.html"]
        return shown.stderr

    def test_a_missing_shard(self, shards, merge, tmp_path):
        logs = shards(3)
        assert "1 of 3 shards missing: 2" in self.refused(merge, tmp_path, logs[0], logs[2])
        stderr = self.refused(merge, tmp_path, logs[1])
        assert "2 of 3 shards missing: 1, 3" in stderr
        assert "--shard 1/3" in stderr

    def test_a_shard_twice(self, shards, merge, tmp_path):
        logs = shards(2)
        stderr = self.refused(merge, tmp_path, *logs, logs[1])
        assert f"shard 2/2 is there 2 times: {logs[1]}, {logs[1]}" in stderr

    def test_shards_of_different_divisions(self, shards, merge, tmp_path):
        logs = [shards(2)[0], shards(3)[1], shards(3)[2]]
        assert "one of 2, not one of 3" in self.refused(merge, tmp_path, *logs)

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (("--level", "should"), 'options.level: "must", not "should"'),
            (("--shuffle", 3), "options.shuffle: null, not 3"),
            (("--only", "f32-"), 'options.only: [], not ["f32-"]'),
        ],
    )
    def test_other_options(self, shards, merge, tmp_path, more, says):
        logs = [shards(2)[0], shards(2, *more)[1]]
        stderr = self.refused(merge, tmp_path, *logs)
        assert f"{logs[1]}: not of the run that {logs[0]} is of" in stderr
        assert says in stderr

    def test_other_known_failures(self, check, merge, tmp_path):
        known = tmp_path / "known.yaml"
        entry = "  - {vectors: [a, b], reason: x, expires: 2037-12-31}\n"
        for k, text in ((1, entry), (2, entry), (3, entry * 2)):
            known.write_text(f"known:\n{text}")
            words = ("--shard", f"{min(k, 2)}/2", "--known-failures", known)
            check(tmp_path / str(k), *words)
        first, second, other = (tmp_path / str(k) / "run.jsonl" for k in (1, 2, 3))
        assert merge(first, second, out=tmp_path / "sound").exit_code == 1
        assert "options.gate_sha256" in self.refused(merge, tmp_path, first, other)
        second.write_bytes(second.read_bytes().replace(b'"expired":false', b'"expired":true'))
        assert "expired meanwhile" in self.refused(merge, tmp_path, first, second)

    def test_another_version_of_the_backend(self, check, shards, merge, tmp_path, monkeypatch):
        first, _ = shards(2)  # made before the version changes
        monkeypatch.setenv("MINE_VERSION", "1.1")
        check(tmp_path / "2", "--shard", "2/2")
        stderr = self.refused(merge, tmp_path, first, tmp_path / "2" / "run.jsonl")
        assert 'backend.version: "1.0", not "1.1"' in stderr

    def test_another_suite(self, shards, merge, tmp_path):
        assert "on another suite: 'small'" in self.refused(
            merge, tmp_path, *shards(2), suite="smoke"
        )

    def test_a_log_of_a_whole_run(self, check, shards, merge, tmp_path):
        check(tmp_path / "whole")
        stderr = self.refused(merge, tmp_path, shards(2)[0], tmp_path / "whole" / "run.jsonl")
        assert "of a whole run, not of a shard" in stderr

    def test_a_log_that_is_not_complete(self, shards, merge, tmp_path):
        first, second = shards(2)
        log = tmp_path / "run.jsonl"
        lines = second.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:-1]))
        stderr = self.refused(merge, tmp_path, first, log)
        assert f"{log}: the log of shard 2/2 is not complete (cut short)" in stderr
        assert "--resume" in stderr
        log.write_bytes(b"".join(lines[:1] + lines[2:]))
        assert "shard 2/2 contradicts itself" in self.refused(merge, tmp_path, first, log)
        footer = json.loads(lines[-1]) | {"interrupted": True, "verdict": "interrupted"}
        log.write_bytes(b"".join([*lines[:-1], encode(footer).encode()]))
        assert "is not complete (interrupted)" in self.refused(merge, tmp_path, first, log)

    def test_vectors_of_another_shard(self, shards, merge, tmp_path):
        first, second = shards(2)
        log = tmp_path / "run.jsonl"
        log.write_bytes(first.read_bytes().replace(b'"shard":"1/2"', b'"shard":"2/2"'))
        stderr = self.refused(merge, tmp_path, first, log)
        assert "shard 2/2 lacks 4 results, and has 4 results of other vectors" in stderr
        assert second.exists()

    def test_a_shard_that_there_cannot_be(self, shards, merge, tmp_path):
        log = tmp_path / "run.jsonl"
        log.write_bytes(shards(2)[0].read_bytes().replace(b'"shard":"1/2"', b'"shard":"3/2"'))
        assert "there is no shard '3/2'" in self.refused(merge, tmp_path, log)

    def test_no_file_and_no_logs(self, shards, merge, tmp_path):
        stderr = self.refused(merge, tmp_path, shards(2)[0], tmp_path / "none.jsonl")
        assert "cannot be read" in stderr
        assert merge().exit_code == 2
        with pytest.raises(UsageError, match="no logs"):
            conformance.merge([])

    def test_the_log_of_a_shard_is_not_replaced(self, shards, merge):
        first, second = shards(2)
        before = first.read_bytes()
        shown = merge(first, second, out=first.parent)
        assert shown.exit_code == 2
        assert "would replace the log of a shard" in shown.stderr
        assert first.read_bytes() == before
