"""How often the names that a diagnosis tells are right: an experiment on backends made of mutants.

    python tests/diagnosis/experiment.py --write

puts the table into docs/diagnosis.md; --op, --singles, --pairs and --held-out ask for
less. Nothing is run: what a mutant returns of a vector is worked out once, and diagnosed as the
outputs in a log are.

- *Singles*: each mutant of the shipped operators alone. Names are right where the mutant, or one
  with equal outputs on all graded vectors, is among them; there are three at most.
- *Pairs*: two mutants drawn at random. The names of a finding are right where one of them says
  nothing but the two, or what equals them.
- *Held out*: a mutant whose own name, and the names of all that equal it, the catalogue lacks. A
  name is judged by what it predicts of fresh cases that nobody graded. Its precision is the share
  of the cases that it would change that come out as it says, its recall the share of the wrong
  ones. It is right with both at 90 % or more, a symptom where it is as precise and has less
  recall, false with a precision below 70 %.

A run is right with a right name and no wrong one, wrong with a wrong one, and else silent.
"""

from __future__ import annotations

import argparse
import random
import shlex
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from prediction import Fresh
from stored import Operator, Run

from conformance import parallel
from conformance.suite.store import open_suite

DOCUMENT = Path(__file__).parents[2] / "docs" / "diagnosis.md"
BEGIN, END = "<!-- experiment -->", "<!-- end of experiment -->"
SEED = 17
KINDS = ("singles", "pairs", "held-out")


@dataclass
class Tally:
    """Outcomes of runs, or of the names of held-out mutants."""

    outcomes: Counter[str] = field(default_factory=Counter)
    names: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.outcomes.update(other.outcomes)
        self.names += other.names
        self.wrong += other.wrong

    @property
    def runs(self) -> int:
        return sum(self.outcomes.values())


@dataclass(frozen=True)
class Work:
    """The part of the experiment that is about one operator; what to run is drawn for it alone."""

    op: str
    suite: str
    singles: int | None
    pairs: int
    held_out: int

    @property
    def label(self) -> str:
        return self.op

    def run(self) -> dict[str, Tally]:
        operator = Operator(self.op, open_suite(self.suite or None))
        chance = random.Random(f"{SEED}/{self.op}")
        found = {kind: Tally() for kind in KINDS}
        ids = operator.shown
        singles = (
            ids if self.singles is None else sorted(chance.sample(ids, min(self.singles, len(ids))))
        )
        for one in singles:
            _judge(found["singles"], operator, [one], operator.run([one]))
        for pair in operator.pairs(chance, self.pairs):
            _judge(found["pairs"], operator, pair, operator.run(pair))
        if self.held_out:
            fresh = Fresh(operator.spec)
            for one in sorted(chance.sample(ids, min(self.held_out, len(ids)))):
                _judge_held_out(found["held-out"], operator, fresh, one)
        return found


def _judge(tally: Tally, operator: Operator, ids: Sequence[str], run: Run) -> None:
    """Add a run of some mutants together, by who is named."""
    allowed = set().union(*(operator.alike(one) for one in ids))
    right = wrong = 0
    for names in run.named:
        if any(set(one) <= allowed for one in names):
            right += 1
            tally.names.append(len(names))
        else:
            wrong += 1
            tally.wrong.append(f"{operator.op}: {'+'.join(ids)} named {_text(names)}")
    outcome = "wrong" if wrong else "right" if right else "silent"
    if outcome == "silent":
        tally.wrong.append(f"{operator.op}: {'+'.join(ids)} has no name")
    tally.outcomes[outcome] += 1


def _judge_held_out(tally: Tally, operator: Operator, fresh: Fresh, one: str) -> None:
    run = operator.run([one], without=operator.alike(one))
    judged = [fresh.judged(operator.faults([one]), n, operator) for n in run.explained]
    outcome = next(
        (o for o in ("false", "imprecise", "symptom", "right", "unshown") if o in judged), "silent"
    )
    if outcome in ("false", "imprecise", "unshown"):
        tally.wrong.append(
            f"{operator.op}: {one} held out, {outcome}: {'; '.join(map(_text, run.named))}"
        )
    tally.outcomes[outcome] += 1


def _text(names: Iterable[Sequence[str]]) -> str:
    return " or ".join("+".join(one) for one in names)


def work(ops: Sequence[str], args: argparse.Namespace) -> list[Work]:
    """As many pairs and held-out mutants of each operator, one more of the first."""

    def share(total: int, number: int) -> int:
        return total // len(ops) + (number < total % len(ops))

    return [
        Work(op, args.suite, args.singles, share(args.pairs, i), share(args.held_out, i))
        for i, op in enumerate(ops)
    ]


def table(found: dict[str, Tally]) -> Iterator[str]:
    """The table of the document, a line each."""
    singles, pairs, held = (found[kind] for kind in KINDS)
    yield "| | runs | right | wrong | no name | precision | recall | names, median |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for title, tally in [("single mutants", singles), ("random pairs", pairs)]:
        right, wrong = tally.outcomes["right"], tally.outcomes["wrong"]
        median = statistics.median(tally.names) if tally.names else 0
        yield (
            f"| {title} | {tally.runs:,} | {right:,} | {wrong:,} | {tally.outcomes['silent']:,} "
            f"| {_percent(right, right + wrong)} | {_percent(right, tally.runs)} | {median:g} |"
        )
    yield ""
    yield "| | runs | right | symptom | imprecise | false | not shown by a fresh case | no name |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    counts = [
        held.outcomes[o] for o in ("right", "symptom", "imprecise", "false", "unshown", "silent")
    ]
    yield f"| held-out mutants | {held.runs:,} | {' | '.join(f'{n:,}' for n in counts)} |"


def _percent(some: int, all_: int) -> str:
    return f"{100 * some / all_:.1f} %" if all_ else "-"


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--op", action="append", help="only this operator; may be repeated")
    parser.add_argument("--suite", default="", help="a suite [default: the shipped core]")
    parser.add_argument(
        "--singles", type=int, help="single mutants of each operator [default: all]"
    )
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--held-out", type=int, default=200)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into docs/diagnosis.md")
    parser.add_argument("--verbose", action="store_true", help="list what is not right")
    return parser.parse_args(argv)


def measured(args: argparse.Namespace) -> dict[str, Tally]:
    """The experiment as asked for."""
    ops = args.op or list(open_suite(args.suite or None).manifest.ops)
    tasks = work(ops, args)

    def progress(what: str, number: int, total: int) -> None:
        print(f"{number} of {total}: {what}", file=sys.stderr, flush=True)

    found = {kind: Tally() for kind in KINDS}
    for one in parallel.run(tasks, processes=args.jobs, progress=progress, total=len(tasks)):
        for kind, tally in one.items():
            found[kind].add(tally)
    return found


def main() -> None:
    args, begun = arguments(), time.time()
    found = measured(args)
    if args.verbose:
        print(*chain.from_iterable(one.wrong for one in found.values()), sep="\n")
    text = "\n".join(table(found))
    print(f"{text}\n\n{(time.time() - begun) / 60:.0f} minutes")
    if args.write:
        asked = [one for one in sys.argv[1:] if one not in ("--write", "--verbose")]
        command = shlex.join(["python", "tests/diagnosis/experiment.py", *asked])
        text = f"Measured with `{command}`:\n\n{text}"
        before, _, rest = DOCUMENT.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
