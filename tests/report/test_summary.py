"""The step summary, read back by a Markdown parser: what a backend says stays text."""

from __future__ import annotations

import re
from dataclasses import replace

import runs
import sample_runs
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from conformance.report.ci.markdown import MAX_BYTES, block, inline, render
from conformance.safe_text import visible

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
STRUCTURE = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence"),
    *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close"),
    *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
}


LINES = (
    "---",
    "- a",
    "+ a",
    "===",
    "1. a",
    "2) a",
    "# a",
    "> a",
    "    a",
    "~~~",
    "***",
    "|a|",
    "[a]: b",
)
"""Texts that are more than text where a line begins with them."""


def inner(tokens):
    return [child for token in tokens if token.type == "inline" for child in token.children]


def shown(tokens):
    """The text of some inline tokens; fails where anything in them is more than text."""
    assert {token.type for token in tokens} <= {"text", "text_special", "softbreak"}
    return "".join(token.content for token in tokens)


@runs.FEW
@given(log=runs.hostile_runs())
def test_nothing_but_our_own_structure(log):
    text = render(log)
    tokens = PARSER.parse(text)
    assert {token.type for token in tokens} <= STRUCTURE
    assert {token.type for token in inner(tokens)} <= {"text", "text_special", "softbreak"}
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == 1 + len(log.causes) + ("### Unsupported" in text)
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert len(rows) == 2 + len(log.tallies)
    assert len(cells) == 8 * len(rows)


@runs.FEW
@given(text=runs.hostile_text | st.text())
def test_inline_text_is_shown_as_it_is(text):
    tokens = PARSER.parse(f"| a |\n|---|\n| x{inline(text)}x |")
    cells = [token.children for token in tokens if token.type == "inline"]
    assert len(cells) == 2
    assert shown(cells[1]) == f"x{visible(' '.join(text.split()))}x"


@runs.FEW
@given(text=runs.hostile_text | st.sampled_from(LINES) | st.text("-+=*_#>~`|:.)1 2\t", max_size=9))
def test_a_line_is_a_paragraph(text):
    tokens = PARSER.parse(f"before\n\n{inline(text)}\n\nafter")
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    said = "".join(shown(token.children) for token in tokens if token.type == "inline")
    assert said == f"before{visible(' '.join(text.split()))}after"


def test_no_links_of_their_own():
    """GitHub makes links of bare addresses too, which begin in one of these ways."""
    for text in ("https://x.org", "www.x.org", "WWW.x.org", "ftp://x.org"):
        assert "://" not in inline(text)
        assert "www." not in inline(text).lower()


@runs.FEW
@given(text=runs.hostile_text | st.text())
@example(text="a\n```\nb")
def test_a_block_is_one_block(text):
    tokens = PARSER.parse(f"before\n\n{block(text)}\n\nafter")
    assert [token.type for token in tokens].count("fence") == 1
    (fence,) = [token for token in tokens if token.type == "fence"]
    assert fence.content == visible(text) + "\n"
    assert tokens[-2].content == "after"


def test_verdict_counts_findings_and_claim():
    log = runs.run(sample_runs.failing())
    tokens = PARSER.parse(render(log))
    words = [shown(token.children) for token in tokens if token.type == "inline"]
    assert words[0] == "❌ Not conformant: example 2.4.1"
    assert [w for w in words if w.startswith("1. ")] == [f"1. {log.causes[0].headline}"]
    assert words[-1] == log.footer["claim"]
    assert "AvgPool-1" in words
    code = [token.content for token in tokens if token.type == "fence"]
    assert f"{log.findings[0].reproduce}\n" in code
    assert any("got: 8.444445 (4,427,423 ULP, 0.33 relative)" in text for text in code)


def test_a_green_one_and_its_unsupported_vectors():
    text = render(runs.run(sample_runs.passing()))
    assert text.startswith("## ✅ Conformant: example 2")
    assert "padding must be symmetric" in text


def test_it_stays_below_what_github_takes():
    log = runs.run(sample_runs.failing())
    finding = replace(log.findings[0], message="é" * 3000, title="|" * 400)
    text = render(replace(log, findings=sample_runs.distinct(finding, 2000)))
    assert len(text.encode()) <= MAX_BYTES
    (told,) = re.findall(r"^More: ([\d,]+) causes; the report has them all\.$", text, re.MULTILINE)
    told = int(told.replace(",", ""))
    assert told + text.count("\n### ") - text.count("### Unsupported") == 2000


def test_hundreds_of_operators():
    log = runs.run(sample_runs.passing())
    log.header["suite"]["by_op"] |= {f"Op-{n}": {"value": 1, "reject": 0} for n in range(5000)}
    assert len(render(log).encode()) < 100_000
