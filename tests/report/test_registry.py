"""Formats by name, files that appear whole, and the command that makes them."""

from __future__ import annotations

import os
import stat
import threading

import pytest
import sample_runs
from click.testing import CliRunner

from conformance.cli.report import report
from conformance.errors import LogError, UsageError
from conformance.log.reader import read
from conformance.report.registry import FORMATS, report_format, write_report, write_text


@pytest.fixture
def log(tmp_path):
    return sample_runs.write(tmp_path / "run.jsonl", sample_runs.failing())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_its_file(log, tmp_path, name):
    run = read(log)
    path = write_report(run, tmp_path / "new" / "folder", name)
    assert path.name == report_format(name).FILE
    assert path.read_text("utf-8") == report_format(name).render(run)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) & 0o400


def test_unknown_format():
    with pytest.raises(UsageError, match="unknown report format 'pdf'") as caught:
        report_format("pdf")
    assert "html" in str(caught.value.hint)


def test_a_report_that_fails_leaves_the_old_one(log, tmp_path, monkeypatch):
    path = write_report(read(log), tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_text", _full)
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(read(log), tmp_path)
    assert path.read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {"run.jsonl", "index.html"}


def _full(*_args, **_kwargs):
    raise OSError(28, "No space left on device")


def test_a_folder_that_is_a_file(log):
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(read(log), log)


class TestCommand:
    def test_page_beside_the_log_and_summary(self, log):
        ran = CliRunner().invoke(report, [str(log)])
        assert ran.exit_code == 0
        page = log.parent / "index.html"
        assert page.read_text("utf-8") == report_format("html").render(read(log))
        assert ran.stderr == f"wrote {page}\n"
        assert ran.stdout.splitlines()[-1] == read(log).footer["claim"]
        assert "\x1b" not in ran.stdout

    def test_findings(self, log):
        ran = CliRunner().invoke(report, [str(log), "--findings", "0"])
        assert "  1. " not in ran.stdout

    def test_a_log_that_cannot_be_read(self, tmp_path):
        ran = CliRunner().invoke(report, [str(tmp_path / "none.jsonl")])
        assert isinstance(ran.exception, LogError)

    def test_help_has_examples(self):
        assert "Examples:" in CliRunner().invoke(report, ["--help"]).stdout


class TestSpecialFiles:
    """What stands at a path and is no plain file is written to, and stays what it is."""

    def test_a_link_stays_one(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "real")
        for text in ("one", "two"):
            write_text(tmp_path / "link", text)
            assert (tmp_path / "link").is_symlink()
            assert (tmp_path / "real").read_text() == text

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as on POSIX")
    def test_a_pipe_gets_the_text(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
        reader.start()
        write_text(pipe, "text")
        reader.join(10)
        assert got == ["text"]
        assert pipe.is_fifo()
