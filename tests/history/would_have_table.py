"""The README of this folder: what would have been caught, from results.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

HEAD = """# Time travel

Would these suites have caught what runtimes are known to have got wrong, and would the diagnosis
have named it? [`run.py`](run.py) grades wheels as they were published, with the shipped backends or
the small [`adapters`](adapters) here, and compares with [`defects.yaml`](defects.yaml): which
version is wrong, which one mended it, the public thread, and the mutants of the catalogue that are
the defect. Those expectations were written before anything was run; the head of the file tells what
was corrected after the first run.

```sh
python tests/history/run.py --work DIR
```

makes a virtual environment for each entry of [`environments.yaml`](environments.yaml) (Python 3.11,
some 10 GB), grades one run after the other, and writes [`results.json`](results.json) and this
page. A run whose log is in DIR is not repeated.

*Right*: a finding on the operator has one of the expected names, among three at most. *Silent*:
vectors that kill such a mutant fail, or those of the expected kind, and no finding says why.
*Missed*: none of them fails.
"""


def readme(expected: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    """The page, as Markdown."""
    told = [(one, verdict(one, results)) for one in expected["defects"]]
    graded = [(one, found) for one, found in told if found is not None]
    counts = Counter(found["verdict"] for _, found in graded)
    caught = counts["right"] + counts["silent"]
    runtimes = {runtime(one["run"]) for one, _ in graded}
    besides = expected.get("besides", ())
    unexpected = [(name, one) for name, run in results.items() for one in run["unexpected"]]
    made = set(expected["made_here"])
    right = [set(one["names"]) for _, one in graded if one["verdict"] == "right"]
    own = sum(bool(names) and names <= made for names in right)
    lines = [
        HEAD,
        f"Of {len(graded)} defects in {len(runtimes)} runtimes {caught} are caught, and "
        f"{counts['right']} of them named rightly; {counts['silent']} are silent, "
        f"{counts['missed']} missed. {own} of the right names are of mutants made from what these "
        "wheels left without a name, so they show no foresight.",
        "",
        "## Would have caught",
        "",
        "| runtime | operator | what is wrong | mended in | thread | verdict | named |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(one, found, results) for one, found in graded]
    lines += [
        "",
        "*like* marks a thread of another project with the same fault. Mended in: the first "
        "version known to be right.",
        "",
        *_besides(besides),
        "## Runs",
        "",
        "| backend | operators | vectors | wrong outputs | of these named |",
        "|---|---|--:|--:|--:|",
    ]
    for name, run in results.items():
        ops = ", ".join(expected["runs"][name]["ops"])
        lines.append(
            f"| {run['backend']} | {ops} | {run['vectors']:,} | {run['wrong outputs']} | "
            f"{run['named outputs']} |"
        )
    wrong = sum(run["wrong outputs"] for run in results.values())
    named = sum(run["named outputs"] for run in results.values())
    lines += [
        "",
        f"Of {wrong:,} wrong outputs {named:,} are named, by such mutants too.",
        "",
    ]
    if unexpected:
        lines += [
            "## Names that nobody expected",
            "",
            "Nothing known of these wheels is called so: counted as false.",
            "",
            "| run | operator | names | vectors |",
            "|---|---|---|--:|",
        ]
        lines += [
            f"| {name} | {one['op']} | {'; '.join(one['names'])} | {one['vectors']} |"
            for name, one in unexpected
        ]
        lines.append("")
    return "\n".join(lines)


def _besides(besides: Sequence[Mapping[str, Any]]) -> list[str]:
    if not besides:
        return []
    lines = [
        "## Named besides",
        "",
        "Names that were given and not expected, and are true: each was looked into afterwards.",
        "",
        "| run | operator | names | why it is true |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {', '.join(one['runs'])} | {one['op']} | {', '.join(one['names'])} | {one['why']} |"
        for one in besides
    ]
    return [*lines, ""]


def verdict(defect: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any] | None:
    """What became of a defect; None where its run was not made."""
    for one in results.get(defect["run"], {}).get("defects", ()):
        if (one["op"], one["says"]) == (defect["op"], defect["says"]):
            found: dict[str, Any] = one
            return found
    return None


def runtime(run: str) -> str:
    """The runtime that a run grades: the first word of its name."""
    return run.partition("-")[0]


def _row(defect: Mapping[str, Any], found: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    backend = results[defect["run"]]["backend"]
    link = defect.get("thread") or defect["alike"]
    short = "#".join(link.removeprefix("https://github.com/").split("/")[i] for i in (1, 3))
    like = "" if "thread" in defect else "like "
    names = ", ".join(found["names"])
    return (
        f"| {backend} | {defect['op']} | {defect['says']} | {defect['fixed'] or ''} | "
        f"{like}[{short}]({link}) | {found['verdict']} | {names} |"
    )
