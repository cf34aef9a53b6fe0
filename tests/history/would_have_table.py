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


def readme(
    expected: Mapping[str, Any], results: Mapping[str, Any], untuned: Mapping[str, Any]
) -> str:
    """The page, as Markdown; ``untuned`` is what was counted before anything was tuned."""
    told = [(one, verdict(one, results)) for one in expected["defects"]]
    graded = [(one, found) for one, found in told if found is not None]
    counts = Counter(found["verdict"] for _, found in graded)
    caught = counts["right"] + counts["silent"]
    runtimes = {runtime(one["run"]) for one, _ in graded}
    besides = expected.get("besides", ())
    unexpected = [(name, one) for name, run in results.items() for one in run["unexpected"]]
    made = set(expected["made_here"])
    right = [
        {*one["names"], *({defect["foreseen"]} if "foreseen" in defect else ())}
        for defect, one in graded
        if one["verdict"] == "right"
    ]
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
        if name in untuned["runs"]:
            continue
        ops = ", ".join(expected["runs"][name]["ops"])
        lines.append(
            f"| {run['backend']} | {ops} | {run['vectors']:,} | {run['wrong outputs']} | "
            f"{run['named outputs']} |"
        )
    tuned = [run for name, run in results.items() if name not in untuned["runs"]]
    lines += [
        "",
        f"Of {_told(tuned)} on the wheels that mutants were made from, by such mutants too.",
        "",
        *_untuned(untuned, expected["runs"], results),
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


def _untuned(
    untuned: Mapping[str, Any], graded: Mapping[str, Any], results: Mapping[str, Any]
) -> list[str]:
    """What was named of wheels that the catalogue had never met, and what is named of them now."""
    runs = untuned["runs"]
    counted = [name for name, run in runs.items() if "as" not in run]
    lines = [
        "## Wheels that nobody had tuned for",
        "",
        untuned["says"],
        "",
        "| backend | operators | wrong outputs | of these named | share | named since |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, run in runs.items():
        alike = f" (the code of {run['as']})" if "as" in run else ""
        lines.append(
            f"| {run['backend']}{alike} | {', '.join(graded[name]['ops'])} | "
            f"{run['wrong outputs']} | {run['named outputs']} | {_share([run])} | "
            f"{results[name]['named outputs']} |"
        )
    return [
        *lines,
        "",
        f"Untuned, of {_told([runs[name] for name in counted])}. From then on they count as "
        f"tuned: {untuned['since']}. Of {_told([results[name] for name in counted])} now.",
        "",
    ]


def _told(runs: Sequence[Mapping[str, Any]]) -> str:
    wrong, named = _sums(runs)
    return f"{wrong:,} wrong outputs {named:,} ({_share(runs)}) are named"


def _share(runs: Sequence[Mapping[str, Any]]) -> str:
    wrong, named = _sums(runs)
    return f"{100 * named / wrong:.1f} %" if wrong else ""


def _sums(runs: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    return sum(run["wrong outputs"] for run in runs), sum(run["named outputs"] for run in runs)


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
