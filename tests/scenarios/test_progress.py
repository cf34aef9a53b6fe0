"""What long work says of itself: on a terminal, and in a log."""

from __future__ import annotations

import io
import sys
import time

import pytest

from conformance.cli import progress
from conformance.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    """A pipe that nobody reads."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("done", "seconds", "text"),
    [
        (0, 5, "making   0% (0 of 8) AvgPool-1, 5 s so far"),
        (2, 20, "making  25% (2 of 8) AvgPool-1, about 1 min left"),
        (6, 3600, "making  75% (6 of 8) AvgPool-1, about 20 min left"),
        (8, 90, "making 100% (8 of 8) AvgPool-1, 1 min 30 s so far"),
    ],
)
def test_it_says_the_share_and_the_time_left(done: int, seconds: float, text: str) -> None:
    shown = Progress(8, "making")
    shown.at("AvgPool-1", done)
    assert shown.line(seconds) == text


def test_before_anything_is_known_of_the_work_there_is_no_gap() -> None:
    assert Progress(1, "searching").line(10) == "searching   0% (0 of 1), 10 s so far"


def test_the_total_may_become_known_later() -> None:
    shown = Progress(1, "making")
    shown.at("rank 4", 3, 12)
    assert shown.line(30).startswith("making  25% (3 of 12) rank 4")


def test_a_line_fits_a_terminal() -> None:
    shown = Progress(8, "making")
    shown.at("x" * 200, 2)
    assert len(shown.line(1)) <= 78


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    with Progress(4, "making") as shown:
        shown.at("this", 1)
        deadline = time.monotonic() + 10
        while stderr.getvalue().count("\n") < 2:  # it ticks though nothing happens
            assert time.monotonic() < deadline
            time.sleep(0.01)
    lines = stderr.getvalue().splitlines()
    assert all(line.startswith("making  25% (1 of 4) this, about ") for line in lines)
    assert "\r" not in stderr.getvalue()


def test_short_work_says_nothing_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with Progress(4, "making") as shown:
        shown.at("this", 1)
    assert stderr.getvalue() == ""


def test_on_a_terminal_the_line_is_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.02)
    with Progress(4, "making") as shown:
        shown.at("this", 1)
        deadline = time.monotonic() + 10
        while "25%" not in stderr.getvalue():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert "\n" not in stderr.getvalue()
    assert stderr.getvalue().endswith(" \r")


def test_a_reader_that_is_gone_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    with Progress(4, "making") as shown:
        shown.at("this", 1)
        time.sleep(0.1)
