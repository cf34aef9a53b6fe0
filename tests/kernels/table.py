"""Writes the tables of the bank into the guide: python tests/kernels/table.py"""

from __future__ import annotations

import re
from pathlib import Path

import bank

ROOT = Path(__file__).parents[2]
GUIDE = "docs/grade-kernel.md"
BEGIN, END = "<!-- {}: tests/kernels/table.py -->", "<!-- end of {} -->"


def exploits() -> str:
    """Each exploit with the level that refuses it, and what the published suite does."""
    found = bank.kernels("exploits")
    passing = sum(one.public == "passes" for one in found)
    lines = [
        f"{len(found)} exploits. The published core suite, in `conformance check`, lets {passing} "
        "of them through.",
        "",
        "| exploit | what it does | refused at level | published suite |",
        "|---|---|---|---|",
    ]
    told = {"passes": "**lets it through**", "refuses": "refuses it"}
    lines += [f"| {name(k)} | {k.about} | {k.level} | {told[k.public]} |" for k in found]
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


if __name__ == "__main__":
    place = ROOT / GUIDE
    place.write_text(within(place.read_text(encoding="utf-8")), encoding="utf-8")
