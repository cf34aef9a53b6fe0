"""Writes the tables of the bank into the guide: python tests/kernels/kernel_table.py

With --grade it first grades the whole bank, and says where that differs from what the files say;
this takes an hour. The tests grade a kernel for each check.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import kernel_bank as bank

ROOT = Path(__file__).parents[2]
GUIDE = "docs/grade-kernel.md"
THROUGH = "**lets it through**"
BEGIN, END = "<!-- {}: tests/kernels/kernel_table.py -->", "<!-- end of {} -->"


def exploits() -> str:
    """Each exploit with the level that refuses it, and what other suites do."""
    found = bank.kernels("exploits")
    passing = sum(one.public == "passes" for one in found)
    missed = sum(bool(one.missed) for one in found)
    through = [one for one in found if one.through]
    attacks = sum(one.level > 0 for one in through)
    lines = [
        f"{len(found)} exploits, of which {len(found) - missed} are refused. The published core "
        f"suite, in `conformance check`, lets {passing} of them through. A new suite, as "
        f"`conformance challenge run` selects and runs it, lets {len(through)} through: {attacks} "
        f"that need level 1, which a challenge has not, and {len(through) - attacks} more. It was "
        "core for GlobalAveragePool, and smoke, which is weaker, for the others (for "
        "AdaptiveMaxPool f32 images alone).",
        "",
        "| exploit | what it does | refused at level | published suite | fresh challenge |",
        "|---|---|---|---|---|",
    ]
    told = {"passes": THROUGH, "refuses": "refuses it"}
    lines += [
        f"| {name(k)} | {k.about} | {k.missed or k.level} | {told[k.public]} | "
        f"{f'{THROUGH}: {k.through}' if k.through else told['refuses']} |"
        for k in found
    ]
    return "\n".join(lines)


def honest() -> str:
    """Each honest kernel with what is odd about it."""
    found = bank.kernels("honest")
    lines = [f"{len(found)} honest kernels.", "", "| kernel | what is odd about it |", "|---|---|"]
    return "\n".join(lines + [f"| {name(k)} | {k.about} |" for k in found])


def name(kernel: bank.Kernel) -> str:
    """A link to the file."""
    path = kernel.path.relative_to(ROOT).as_posix()
    return f"[{kernel.name}](../{path})" + (" (guide only)" if kernel.guide_only else "")


def within(guide: str) -> str:
    """The guide with the tables as they are now."""
    for label, text in (("exploits", exploits()), ("honest kernels", honest())):
        begin, end = BEGIN.format(label), END.format(label)
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        assert re.search(pattern, guide, re.DOTALL), f"{GUIDE} has no place for {label}"
        new = f"{begin}\n{text}\n{end}"
        guide = re.sub(pattern, lambda _, new=new: new, guide, flags=re.DOTALL)
    return guide


def differences(kernel: bank.Kernel, honest: bool, fresh: Path, seed: int) -> Iterator[str]:
    """Where the verdicts on a kernel are not those that its file states.

    Suites of a challenge with this ``seed`` lie in the folder ``fresh``.
    """
    accepted = honest or bool(kernel.missed)
    for level in range(kernel.level, 2):
        run = bank.graded(kernel, level)
        if (run.exit_code == 0) != accepted:
            yield f"level {level}: {bank.reasons(run)}"
    if not honest and (public := bank.public(kernel)) != kernel.public:
        yield f"the published suite {public} it"
    stated = "passes" if honest or kernel.through else "refuses"
    if (challenge := bank.challenged(kernel, fresh, seed)) != stated:
        yield f"a challenge {challenge} it"


def grade() -> None:
    """Grade the whole bank; ends with 1 where a file is wrong."""
    wrong, seed = 0, secrets.randbits(64)
    print("seed of the challenges:", seed)
    with TemporaryDirectory(prefix="challenge-") as fresh:
        for kind in ("exploits", "honest"):
            for kernel in bank.kernels(kind):
                found = list(differences(kernel, kind == "honest", Path(fresh), seed))
                wrong += len(found)
                print(kernel.name, *(found or ["as stated"]), sep="\n  ", flush=True)
    if wrong:
        sys.exit(f"{wrong} differences")


if __name__ == "__main__":
    if "--grade" in sys.argv:
        grade()
    place = ROOT / GUIDE
    place.write_text(within(place.read_text(encoding="utf-8")), encoding="utf-8")
