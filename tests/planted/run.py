"""Plants defects in a copy of the checkout, one at a time: which of them do the tests find?"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from time import monotonic

from planted import LIST, ROOT, Defect, read

MAY_MISS = 2
"""How many of all defects the quick tier may miss; the full tier must find each."""

SILENCE = 600
"""Seconds without a word from pytest after which a run hangs, which is one way to be found."""

FIRST = {
    "cli": ("tests/scenarios",),
    "pytest_plugin": ("tests/test_pytest_plugin.py",),
    "specs": ("tests/spec", "tests/generate", "tests/reference", "tests/audit"),
}
"""Which tests are the likeliest to notice, where that is not the folder of the package's name."""

NO_TESTS = ("benchmarks", "planted", "__pycache__")
"""Folders of tests/ that are not run; the list of defects would notice every one of them."""

PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0")

HELP = f"""\
examples:
  python tests/planted/run.py                        the quick tier, about an hour
  python tests/planted/run.py -n 4                   four defects at a time
  python tests/planted/run.py --only grade-expires-early
                                                     one, with all that pytest says
  python tests/planted/run.py --baseline             first see that all tests pass without

The defects are in {LIST.relative_to(ROOT)}. Git-tracked files are copied as they are on disk, so
what you have not committed is tested too; your checkout is not touched. Of each defect the tests
of its package run first, then all others, until one fails, and does so again alone: on a busy
machine a test may fail by itself. A run that is silent for {SILENCE // 60} minutes hangs, and
counts as found.

Exit code 1: the quick tier misses more than {MAY_MISS} of all defects, or with --exhaustive or
--only, any. 2: a defect cannot be planted, or the tests fail without one.
"""


@dataclass(frozen=True)
class Verdict:
    """What became of a defect: the first test that failed, empty if none did."""

    defect: Defect
    by: str
    seconds: float
    output: str

    def __str__(self) -> str:
        found = f"found by {self.by}" if self.by else "MISSED"
        return f"{self.defect.id:<34} {self.seconds:6.0f} s  {found}"


class Checkout:
    """A copy of the checkout, in which one defect at a time is planted."""

    def __init__(self, root: Path, *, exhaustive: bool) -> None:
        self.root = root
        self._options = ("--exhaustive",) if exhaustive else ()
        # Python takes a file of equal time and size for the one that it compiled before.
        self._times = count(int((ROOT / "conformance").stat().st_mtime) + 10, 10)
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name, follow_symlinks=False)

    def try_out(self, defect: Defect) -> Verdict:
        """Plant a defect, run tests until one fails, and take the defect out again."""
        file, began = self.root / defect.file, monotonic()
        text = file.read_text("utf-8")
        by = output = ""
        try:
            self._write(file, defect.planted(text))
            for tests in self._stages(defect.file):
                by, output = self._failure(tests)
                while by and not self._noticed(by):
                    tests += ["--deselect", by]
                    by, output = self._failure(tests)
                if by:
                    break
        finally:
            self._write(file, text)
        return Verdict(defect, by, monotonic() - began, output)

    def _noticed(self, by: str) -> bool:
        """Whether a test fails again: on a busy machine one may fail by itself."""
        return "::" not in by or bool(self._failure([by.partition("[")[0]])[0])

    def baseline(self) -> str:
        """What fails without a defect; empty if nothing does."""
        return self._failure(self._all())[0]

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, "utf-8")
        moment = next(self._times)
        os.utime(file, (moment, moment))

    def _stages(self, file: str) -> Iterator[list[str]]:
        """The tests that are the likeliest to notice a change of a file, and then all others."""
        parts = Path(file).parts
        package = parts[1] if parts[0] == "conformance" else parts[0]
        own = f"tests/{package}" if "." not in package else f"tests/test_{package}"
        first = [one for one in FIRST.get(package, (own,)) if (self.root / one).exists()]
        if first:
            yield first
        yield [one for one in self._all() if one not in first]

    def _all(self) -> list[str]:
        found = (self.root / "tests").iterdir()
        names = [one.name for one in found if one.is_dir() or one.match("test_*.py")]
        kept = sorted(name for name in names if name not in NO_TESTS)
        return [f"tests/{name}" for name in sorted(kept, key=lambda name: name != "scenarios")]

    def _failure(self, tests: Sequence[str]) -> tuple[str, str]:
        """The first test that fails, empty if none does, and what pytest says."""
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        process = subprocess.Popen(
            [*PYTEST, *self._options, *tests],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        said = bytearray()
        try:
            while select.select([process.stdout], [], [], SILENCE)[0]:
                if not (more := os.read(process.stdout.fileno(), 1 << 16)):
                    break
                said += more
            else:
                return f"silence of {SILENCE} s (hangs)", said.decode(errors="replace")
            code = process.wait()
        finally:
            # What a test leaves running must not meet the next defect.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output = said.decode(errors="replace")
        if code in (0, 5):  # 5: there are none, in this tier
            return "", output
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - |$)", output, re.MULTILINE)
        if failed is None and code == 4:
            sys.exit(f"pytest cannot be used so:\n{output}")
        return failed[1] if failed else f"pytest, which ends with {code}", output


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exhaustive", action="store_true", help="the full tier")
    parser.add_argument("--only", metavar="ID", action="append", help="this defect; repeatable")
    parser.add_argument("-n", type=int, default=1, metavar="N", help="so many at a time")
    parser.add_argument("--baseline", action="store_true", help="run the tests without any first")
    asked = parser.parse_args()
    defects = read()
    unknown = {*(asked.only or ())} - {one.id for one in defects}
    if unknown:
        parser.error(f"no defect is called {', '.join(sorted(unknown))}; see {LIST}")
    chosen = [one for one in defects if not asked.only or one.id in asked.only]
    for one in chosen:
        try:
            one.planted((ROOT / one.file).read_text("utf-8"))
        except ValueError as error:
            parser.error(str(error))

    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copies: SimpleQueue[Checkout] = SimpleQueue()
        for number in range(max(1, min(asked.n, len(chosen)))):
            copies.put(Checkout(Path(folder, str(number)), exhaustive=asked.exhaustive))
        if asked.baseline:
            copy = copies.get()
            if failed := copy.baseline():
                parser.error(f"without any defect {failed} fails")
            copies.put(copy)

        def tried(defect: Defect) -> Verdict:
            copy = copies.get()
            try:
                return copy.try_out(defect)
            finally:
                copies.put(copy)

        missed = 0
        with ThreadPoolExecutor(copies.qsize()) as threads:
            for verdict in threads.map(tried, chosen):
                print(verdict, flush=True)
                missed += not verdict.by
                if asked.only:
                    print(verdict.output)
    tier = "full" if asked.exhaustive else "quick"
    print(f"the {tier} tier finds {len(chosen) - missed} of {len(chosen)} planted defects")
    return int(missed > (0 if asked.exhaustive or asked.only else MAY_MISS))


if __name__ == "__main__":
    sys.exit(main())
