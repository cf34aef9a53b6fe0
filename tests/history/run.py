"""Would these suites have caught what old wheels got wrong? See README.md, which this writes.

    python tests/history/run.py --work DIR              # all runs: an hour on two cores
    python tests/history/run.py --work DIR --run NAME   # some of them
    python tests/history/run.py --work DIR --again      # with another diagnosis
    python tests/history/run.py --readme                # the table again, from results.json

Environments, suites and logs are kept in DIR; a run whose log is there is not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conformance.log.reader import read_unfinished

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from wheels import made  # noqa: E402
from would_have import before, expectations, graded  # noqa: E402
from would_have_table import readme  # noqa: E402

RESULTS = HERE / "results.json"
CLI = "from conformance.cli import main; main()"
DECIDED = (0, 1, 4)
"""Exit codes of a check that came to a verdict."""


def main() -> int:
    """Run what is asked, and write results and README."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--work", type=Path, help="the folder for environments, suites and logs")
    words.add_argument("--run", action="append", help="only this run; repeatable")
    words.add_argument("--again", action="store_true", help="diagnose logs in DIR again")
    words.add_argument("--readme", action="store_true", help="write the README from results.json")
    asked = words.parse_args()
    expected = expectations()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if not asked.readme:
        if asked.work is None:
            words.error("--work is needed")
        for name in asked.run or expected["runs"]:
            try:
                log, suite = checked(
                    name, expected["runs"][name], asked.work.absolute(), again=asked.again
                )
                results[name] = graded(name, log, suite, expected)
            except (subprocess.CalledProcessError, RuntimeError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            told = ", ".join(f"{one['op']} {one['verdict']}" for one in results[name]["defects"])
            print(f"{name}: {told}", flush=True)
        in_order = {name: results[name] for name in expected["runs"] if name in results}
        RESULTS.write_text(json.dumps(in_order, indent=1) + "\n", encoding="utf-8")
        results = in_order
    (HERE / "README.md").write_text(readme(expected, results, before()), encoding="utf-8")
    return 0


def checked(name: str, run: dict[str, Any], work: Path, *, again: bool) -> tuple[Path, Path | None]:
    """The log of one run, made unless it is there, and the suite that it graded.

    What a log holds is diagnosed ``again`` if that is asked.
    """
    report, suite = work / "runs" / name, _suite(run, work)
    log = report / "run.jsonl"
    if again and log.is_file():
        _reopen(log)
    found = read_unfinished(log)
    if found is None or not found.run.complete:
        environment = made(run["environment"], work / "venvs")
        words = [
            "check",
            "--backend",
            _place(run["backend"]),
            "--env",
            str(environment),
            "--min-strength",
            "0",
        ]
        words += ["--out", str(report), "--resume", "--timeout", "60", *_ops(run)]
        words += [] if suite is None else ["--suite", str(suite)]
        ended = _conformance(words)
        if ended not in DECIDED:
            raise RuntimeError(f"conformance check ended with exit code {ended}")
    return log, suite


def _reopen(log: Path) -> None:
    """Leave the results in a log, so that a run that resumes it looks for causes anew."""
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["event"] in ("header", "result")]
    log.write_text("".join(kept), encoding="utf-8")


def _suite(run: dict[str, Any], work: Path) -> Path | None:
    """A suite of operators that the shipped one has not, made from their recorded cases, or one
    made for what a backend declares; None where the shipped one is graded."""
    if "suite" not in run:
        return None
    folder = work / "suites" / "+".join(run["ops"])
    more: list[str] = []
    if run["suite"] != "recorded":
        folder = work / "suites" / f"for {run['suite']}"
        more = ["--for", _place(run["suite"])]
    words = ["generate", *_ops(run), *more, "--out", str(folder)]
    if not folder.is_dir() and _conformance(words) != 0:
        raise RuntimeError(f"{folder} could not be made")
    return folder


def _place(backend: str) -> str:
    return str(HERE / "adapters" / backend) if ".py:" in backend else backend


def _ops(run: dict[str, Any]) -> list[str]:
    return [word for op in run["ops"] for word in ("--op", op)]


def _conformance(words: list[str]) -> int:
    quiet = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", CLI, *words], env=quiet, stdout=subprocess.DEVNULL, check=False
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
