"""The summary: fits a terminal, says what matters, and lets nothing through to the terminal."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
import sample_runs

from conformance.log.reader import read
from conformance.model import Finding, Result
from conformance.report.ci import markdown
from conformance.report.terminal import render, summary

KINDS = ("passing", "failing", "interrupted", "nothing_graded", "gated", "hostile")


def run_of(tmp_path, events):
    return read(sample_runs.write(tmp_path / "run.jsonl", events))


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("kind", KINDS)
def test_fits(tmp_path, kind, width):
    events = getattr(sample_runs, kind)()
    *body, claim = summary(run_of(tmp_path, events), width=width).split("\n")
    too_wide = [line for line in body if len(line) > width]
    if kind == "hostile":  # its command cannot be broken, as a shell would not understand it
        assert [line.split()[0] for line in too_wide] == ["</script><script>alert(1)</script>"]
    else:
        assert too_wide == []
    assert claim == events[-1]["claim"] or kind == "hostile"


def test_long_names_keep_numbers_under_their_heading(tmp_path):
    events = sample_runs.passing(3)
    long = "org.example.extensions.AdaptiveAveragePoolingWithOverlap-12"
    events[1] = replace(events[1], op=long)
    events[0]["suite"]["by_op"] |= {long: {"value": 1, "reject": 0}}
    lines = summary(run_of(tmp_path, events)).split("\n")
    assert max(map(len, lines[:-1])) <= 80
    place = next(i for i, line in enumerate(lines) if line == long)
    heading = next(line for line in lines if line.startswith("operator"))
    assert len(lines[place + 1]) == len(heading)


def test_counts(tmp_path):
    text = summary(run_of(tmp_path, sample_runs.failing()))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["all"] == ["400", "339", "18", "5", "38", "0", "28", "308"]
    assert rows["AdaptiveMaxPool-8"] == ["133", "112", "3", "5", "13", "0", "10", "103"]
    assert 339 + 18 + 5 + 38 + 0 == 400
    assert "vectors = passed + failed + errors + unsup. + skipped" in text


def test_a_finding_in_full(tmp_path):
    events = sample_runs.failing()
    finding = next(e for e in events if getattr(e, "reproduce", None))
    text = summary(run_of(tmp_path, events))
    flat = " ".join(text.split())
    for part in (
        "1. Wrong values, not explained: AvgPool-1, 10 vectors",
        "effect wrong values",
        f"in AvgPool-1: {finding.title}",
        f"reproducer {finding.smallest}",
        "targets ceil-overrun, pads-asymmetric, channels",
        "worst result[0, 1, 1, 1]",
        "exact 12.666666666666666",
        "accepted [12.666666, 12.666668], rounded 12.666667",
        "got 8.444445 (4,427,423 ULP, 0.33 relative)",
        "message result: 3 of 12 elements are wrong",
    ):
        assert part in flat
    command = text.split("reproduce\n")[1].split("\n\n")[0]
    assert shlex.split(command.replace("\\\n", "")) == shlex.split(finding.reproduce)


def test_readings_stand_between_findings_and_verdict(tmp_path):
    text = summary(run_of(tmp_path, sample_runs.failing()))
    before, after = text.split("Implementation-defined behaviour")
    assert "Causes (2, and 1 unexplained failure group), worst first" in before
    assert "\n\nNOT CONFORMANT" in after
    lines = after.split("NOT CONFORMANT")[0].rstrip().splitlines()[2:]
    assert lines == [
        "AvgPool-1",
        "  divisor of a window that overruns counted padding (mixed)",
        "      the whole kernel: 93 vectors (all), f16-1x2x3x2-normal-00000000",
        "    * taps within the padded input: 10 vectors (all), f64-1x2x3x4-ramp-0000001b",
        "  not observed: ceil with auto_pad valid",
    ]


def test_readings_name_the_types_where_some_are_missing(tmp_path):
    events = sample_runs.passing(60)
    events[-1]["readings"][0]["answers"][0]["dtypes"] = ["f16", "f32"]
    assert "vectors (f16 f32), " in summary(run_of(tmp_path, events))


def test_of_an_operator_that_nothing_was_graded_of_no_question_is_listed(tmp_path):
    events = sample_runs.passing(60)
    other = {**events[-1]["readings"][0], "op": "torch.lp_pool-2", "answers": []}
    events[-1]["readings"].append(other)
    text = summary(run_of(tmp_path, events))
    assert "Implementation-defined behaviour" in text
    assert "torch.lp_pool-2" not in text


def test_findings_beyond_the_limit_are_counted(tmp_path):
    run = run_of(tmp_path, sample_runs.failing())
    text = summary(run, limit=1)
    assert "  1. " in text
    assert "  2. " not in text
    assert "and 2 more; see the log." in text
    assert "  3. " in render(run)


def test_colour_changes_nothing_but_colour(tmp_path):
    run = run_of(tmp_path, sample_runs.failing())
    coloured = summary(run, color=True)
    assert "\x1b[31m" in coloured
    for code in ("\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == summary(run)


@pytest.mark.parametrize("kind", ["passing", "failing", "interrupted", "nothing_graded"])
def test_only_a_conformant_run_is_green(tmp_path, kind):
    text = summary(run_of(tmp_path, getattr(sample_runs, kind)()), color=True)
    assert ("\x1b[32m" in text) is (kind == "passing")


def test_a_log_cut_short_claims_nothing(tmp_path):
    path = sample_runs.write(tmp_path / "run.jsonl", sample_runs.passing())
    path.write_bytes(path.read_bytes()[:-1])
    text = summary(read(path), color=True)
    assert "CUT SHORT" in text
    assert "\x1b[32m" not in text
    assert text.endswith("\nNo claim can be made from this run.")


def test_a_log_that_contradicts_itself_says_how(tmp_path):
    events = sample_runs.passing()
    del events[7]
    text = " ".join(summary(run_of(tmp_path, events)).split())
    assert "INCONSISTENT LOG. The log contradicts itself" in text
    assert "the footer counts" in text


def test_a_long_message_is_cut(tmp_path):
    events = sample_runs.failing()
    message = "\n".join(f"line {n}" for n in range(100))
    place = next(i for i, e in enumerate(events) if getattr(e, "reproduce", None))
    events[place] = replace(events[place], message=message)
    text = summary(run_of(tmp_path, events))
    assert "line 5\n" in text
    assert "line 6\n" not in text
    assert "and 94 more lines" in text


@pytest.mark.parametrize(
    ("case", "shown"),
    [
        ("1x1x5x5 f32, kernel [2,2]", ["     case       1x1x5x5 f32, kernel [2,2]"]),
        ("1x1 f32\x1b[31m\nCONFORMANT", ["     case       1x1 f32\\x1b[31m CONFORMANT"]),
        (
            "x" * 100_000,
            [f"     case       {'x' * 64}", *[f"{'':16}{'x' * 64}"] * 2, f"{'':16}{'x' * 48}"],
        ),
        ("", []),
    ],
)
def test_the_smallest_case_stands_below_its_id(tmp_path, case, shown):
    events = sample_runs.failing()
    place = next(i for i, event in enumerate(events) if isinstance(event, Finding))
    events[place] = replace(events[place], detail={**events[place].detail, "case": case})
    lines = summary(run_of(tmp_path, events)).split("\n")
    number = next(i for i, line in enumerate(lines) if line.startswith("     reproducer "))
    assert lines[number + 1 : number + 1 + len(shown)] == shown
    assert not lines[number + 1 + len(shown)].startswith(("     case", " " * 16))


def test_reasons_that_differ_late_are_told_apart(tmp_path):
    """Each is as long as it may be in a log, and they begin alike."""
    events = sample_runs.passing()
    same = "RuntimeError: could not create a primitive descriptor for a pooling forward " * 5
    late = {"bf16": "algorithm max", "f64": "algorithm mean"}
    for place, event in enumerate(events):
        if isinstance(event, Result) and event.message:
            events[place] = replace(event, message=same + late[event.dtype])
    for text in (summary(run_of(tmp_path, events)), markdown.render(run_of(tmp_path, events))):
        told = " ".join(text.split("Unsupported\n")[1].split("\n\nImplementation")[0].split())
        assert [told.count(why) for why in late.values()] == [1, 1]
    assert max(map(len, summary(run_of(tmp_path, events)).split("\n")[:-1])) <= 80
