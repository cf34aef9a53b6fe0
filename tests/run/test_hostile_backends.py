"""Backends that do all the harm they can: the run completes, and every verdict is right."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import hostile
import pytest
from click.testing import CliRunner
from tiny_suites import adaptive, rejected, size_of, suite_of

import conformance
from conformance.cli import main
from conformance.log.reader import read

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX")

FILE = Path(hostile.__file__)
HANGING = [size for size, does in hostile.SIZES.items() if does in hostile.HANGING]
OTHERS = [size for size in hostile.SIZES if size not in HANGING]


def cases(sizes):
    return [adaptive(size) if size < 1000 else rejected(size) for size in sizes]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suites") / "rows"
    return suite_of(folder, cases([*hostile.HONEST, *OTHERS]))


@pytest.fixture(scope="module")
def checked(suite, tmp_path_factory):
    """What the command showed of all that does not hang, and its report."""
    report = tmp_path_factory.mktemp("hostile")
    words = ["check", "--backend", f"{FILE}:Hostile", "--suite", str(suite.path), "-j", "2"]
    words += ["--timeout", "60", "--memory", "700M", "--out", str(report)]
    return CliRunner().invoke(main, words), report


@pytest.fixture(scope="module")
def run(checked):
    return read(checked[1] / "run.jsonl")


@pytest.fixture(scope="module")
def by_size(run, tmp_path_factory, exhaustive):
    """All results; what hangs is in a run of its own, in which no other vector takes long."""
    hanging = HANGING if exhaustive else HANGING[:2]
    asked = suite_of(tmp_path_factory.mktemp("suites") / "rows", cases([4, *hanging]))
    others = conformance.check(asked, f"{FILE}:Hostile", timeout=1, jobs=3, findings=False).results
    return {size_of(result): result for result in (*others, *run.results)}


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(
            size,
            id=does.__name__,
            marks=[pytest.mark.exhaustive] if size in HANGING[2:] else [],
        )
        for size, does in hostile.SIZES.items()
    ],
)
def test_the_verdict_is_right(by_size, size):
    function = hostile.SIZES[size]
    status, kind, message = hostile.BEHAVIOURS[function]
    result = by_size[size]
    assert (result.status.value, result.kind) == (status, kind), result.message
    if size < 1000:
        assert message in result.message


def test_every_other_vector_passes(by_size):
    assert {by_size[size].status.value for size in hostile.HONEST} == {"pass"}


def test_the_run_completes(checked, run, suite):
    shown, _ = checked
    assert shown.exit_code == 1
    assert run.problems == ()
    assert run.verdict == "not conformant"
    assert len(run.results) == len(suite.manifest.vectors)
    assert run.footer["interrupted"] is False


def test_what_was_lost_says_where_and_what(by_size):
    message = by_size[3].message.splitlines()
    assert message[0] == "the process was killed by SIGSEGV (Segmentation fault)"
    assert message[1] == "stderr says: Fatal Python error: Segmentation fault"
    assert message[2].startswith("running AdaptiveAvgPool-8 on f32[1, 1, 3], i64[1]")
    assert message[3:5] == ["stderr:", "Fatal Python error: Segmentation fault"]
    assert any("hostile.py" in line and "segfault" in line for line in message)


def test_what_fails_alike_is_one_finding(run):
    killed = [f for f in run.findings if "killed by SIGSEGV" in f.message and f.kind == "crashed"]
    values = [f for f in killed if "negative" not in f.title]
    assert sum(len(f.ids) for f in values) == 2
    assert len(values) == 1


def test_the_log_holds_how_the_backend_was_run(run):
    options = run.header["options"]
    assert options["executor"] == "process"
    assert (options["jobs"], options["timeout"], options["repeat"]) == (2, 60, 1)
    assert options["memory"] == 700 << 20
    assert all("--timeout 60 --memory 700M" in finding.reproduce for finding in run.findings)


class Balanced(HTMLParser):
    """Raises nothing and keeps what is open: empty at the end of a well-formed page."""

    VOID = frozenset({"meta", "link", "input", "br", "img", "hr", "col"})

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_page_is_well_formed(checked):
    page = (checked[1] / "index.html").read_text(encoding="utf-8")
    assert all(c.isprintable() or c == "\n" for c in page)
    parsed = Balanced()
    parsed.feed(page)
    parsed.close()
    assert (parsed.wrong, parsed.open) == ([], [])
    assert not any("onload" in attributes for _, attributes in parsed.tags)
    assert page.count("</script>") == sum(tag == "script" for tag, _ in parsed.tags)


def test_neither_log_nor_terminal_gets_a_control_character(checked):
    shown, report = checked
    log = (report / "run.jsonl").read_bytes()
    assert re.fullmatch(rb"[\x20-\x7e\n]*", log)
    assert all(c.isprintable() or c == "\n" for c in shown.stdout)
    assert "starting" not in shown.output


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_inline_gives_the_same_verdicts(suite, by_size):
    bearable = [s for s, function in hostile.SIZES.items() if function not in hostile.UNBEARABLE]
    ids = [by_size[size].id for size in bearable if size < 1000]
    spec = f"{FILE}:Nasty"
    inline = conformance.check(suite, spec, only=ids, executor="inline", findings=False)
    process = conformance.check(suite, spec, only=ids, findings=False)
    assert process.header["options"]["executor"] == "process"

    def told(run):
        return [(one.id, one.status, one.kind, one.message) for one in run.results]

    assert len(told(inline)) == len(ids) > 20
    assert told(inline) == told(process)
