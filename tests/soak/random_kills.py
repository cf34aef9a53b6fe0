"""Kills ``check`` and ``generate`` at random moments, and looks at what they leave behind; POSIX.

    python tests/soak/random_kills.py [--seconds 60] [--seed N]

Not part of the ordinary tests: it takes as long as it is given, and times are never the same. It
uses a tiny specification. After each kill the suite is the old one, the new one or refused; the
run log holds all results that were in it before; no worker is left; and in the end ``--resume`` and
``generate`` give what they give undisturbed. Exits with 1 where this does not hold, and leaves the
folder.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "scenarios"))

import tiny

from conformance.errors import ConformanceError
from conformance.log.reader import read, read_unfinished
from conformance.suite.store import open_suite

BACKEND = """
import time
from conformance.backends.reference import Reference

class Slow(Reference):
    name = "slow"
    def __init__(self):
        super().__init__({spec!r})
    def run(self, op, inputs, attributes):
        time.sleep(0.05)
        outputs = super().run(op, inputs, attributes)
        return [outputs[0] + 1] if outputs[0].dtype == "f2" else outputs
"""

SAID = ("verdict", "sentence", "claim", "exit_code", "counts", "by_reading", "precision_reached")
SETTLED = (0, 1)


def started(words: Sequence[object], **more: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", tiny.MAIN, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **more,
    )


def until_gone(group: int, seconds: float = 20) -> bool:
    """Whether the last process of a group ends within so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def killed(
    words: Sequence[object], watched: Path, within: float, rng: random.Random, *how: signal.Signals
) -> bool:
    """Whether the command was killed, so many seconds at most after it first touched a file."""
    before = stamp(watched)
    process = started(words)
    while process.poll() is None and stamp(watched) == before:
        time.sleep(0.002)
    try:
        code = process.wait(rng.uniform(0, within))
    except subprocess.TimeoutExpired:
        process.send_signal(rng.choice(how))
        code = process.wait()
        return code not in SETTLED  # it may have been through just then
    assert code in SETTLED, f"exit code {code} of {words}"
    return False


def stamp(file: Path) -> tuple[int, int] | None:
    """What changes when a file or a folder is written to."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def facts(log: Path) -> tuple[object, ...]:
    run = read(log)
    assert run.complete, run.verdict
    assert run.footer is not None
    results = [(one.id, one.status, one.message) for one in run.results]
    return results, run.findings, run.readings, [run.footer[name] for name in SAID]


class Kills:
    """Rounds of kills in one folder."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.random = rng
        self.seen: Counter[str] = Counter()
        self.spec = tiny.write(folder)
        self.contents = []
        for seed in (0, 1):
            assert started(self.generate(folder / f"suite{seed}", seed)).wait() == 0
            self.contents.append(tiny.content(folder / f"suite{seed}"))
        backend = folder / "slow.py"
        backend.write_text(BACKEND.format(spec=str(self.spec)))
        self.check = ("check", "--backend", f"{backend}:Slow", "--suite", folder / "suite0")
        assert started((*self.check, "--out", folder / "whole")).wait() == 1
        self.whole = facts(folder / "whole" / "run.jsonl")

    def generate(self, out: Path, seed: int) -> tuple[object, ...]:
        return ("generate", "--op", self.spec, "--out", out, "--seed", seed, "--force")

    def round_of_workers(self) -> None:
        """Two processes that select cases, ended at any moment: neither is left, nor a file."""
        out = self.folder / "workers" / "suite"
        words = ("generate", "--op", "AvgPool-1", "--seed", 1, "--out", out, "-j", 2)
        process = started(words, start_new_session=True)
        time.sleep(self.random.uniform(0, 12))
        how = self.random.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL))
        process.send_signal(how)
        code = process.wait(30)
        assert code in (-how, 128 + how, 0), f"exit code {code} after {how.name}"
        assert until_gone(process.pid), f"a process is left after {how.name}"
        if code:
            assert not out.exists(), "half a suite is left"
        shutil.rmtree(out.parent, ignore_errors=True)
        self.seen[f"workers: {how.name}"] += 1

    def round_of_check(self) -> None:
        """One run, killed until it is through."""
        report = self.folder / "report"
        log = report / "run.jsonl"
        there: list[str] = []
        while True:
            words = (*self.check, "--out", report, "--resume")
            how = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
            dead = killed(words, log, 0.6, self.random, *how)
            if log.exists() and read_unfinished(log) is not None:
                run = read(log)
                now = [one.id for one in run.results]
                assert now[: len(there)] == there, "results were lost"
                assert run.verdict in ("cut short", "interrupted", "not conformant"), run.verdict
                self.seen[f"check: {run.verdict}"] += 1
                there = now
            else:
                assert not there, "the log was lost"
                self.seen["check: nothing yet"] += 1
            if not dead:
                break
        assert facts(log) == self.whole, "a resumed run says something else"
        shutil.rmtree(report)

    def round_of_generate(self) -> None:
        """One suite over another one, killed once, then made."""
        out = self.folder / "out" / "suite"
        shutil.copytree(self.folder / "suite0", out)
        how = (signal.SIGKILL, signal.SIGTERM)
        killed(self.generate(out, 1), out.parent, 0.04, self.random, *how)
        try:
            assert open_suite(out).verify() == ()
            state = ["the old suite", "the new suite"][self.contents.index(tiny.content(out))]
        except ConformanceError:
            state = "refused"
        self.seen[f"generate: {state}"] += 1
        assert started(self.generate(out, 1)).wait() == 0
        assert tiny.content(out) == self.contents[1], "another suite than undisturbed"
        assert [path.name for path in out.parent.iterdir()] == ["suite"]
        shutil.rmtree(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    folder = Path(tempfile.mkdtemp(prefix="random-kills-"))
    kills = Kills(folder, random.Random(asked.seed))
    deadline = time.monotonic() + asked.seconds
    while time.monotonic() < deadline:
        try:
            kills.round_of_workers()
            kills.round_of_check()
            kills.round_of_generate()
        except Exception:
            print(f"what was left is in {folder}")
            raise
    for state, times in sorted(kills.seen.items()):
        print(f"{times:6} {state}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
