"""What the site has beside the documents: pages of operators, and no link that leads nowhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import escape
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from conformance.cli.spec_text import SECTIONS
from conformance.core.loader import load_operator, shipped_names
from conformance.docs.html import operator_page
from conformance.docs.operator_facts import OperatorFacts

FOLDER = "operators"
"""Where operators have their pages: a short one each, which is searched, and a whole one."""

MARKS = re.compile(r"([\\`*_{}\[\]()#+!-])")

REPOSITORY = Path(__file__).parents[2]

ALSO = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "tests/README.md",
    "tests/history/README.md",
    "reports/sample/README.md",
    "reports/sample/definitions/README.md",
    "reports/sample/comparison.html",
    "reports/sample/openvino/index.html",
)
"""Documents and pages elsewhere in the repository that are part of the site."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
SOURCE = re.compile(r'(src|srcset)="(?!https?:)([^"]+)"')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    assert config.nav is not None
    config.nav.insert(2, {"Operators": [{op: f"{FOLDER}/{op}.md"} for op in shipped_names()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name in ALSO:
        files.append(File.generated(config, _place(name), abs_src_path=str(REPOSITORY / name)))
    for op in shipped_names():
        facts, whole = OperatorFacts(load_operator(op)), f"{op}-whole.html"
        pages = {f"{op}.md": "\n".join(_short(facts, whole)), whole: operator_page(facts)}
        for name, content in pages.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def _short(facts: OperatorFacts, whole: str) -> Iterator[str]:
    """The lines of an operator's short page."""
    yield f"# {facts.op}\n\n{_plain(facts.summary)}\n"
    if facts.document is not None:
        yield f"[{_plain(facts.document.title)}]({facts.document.url}){{rel=noreferrer}}\n"
    yield f"[The page with formulas]({whole}) says the same in mathematical notation.\n"
    for heading, entries in SECTIONS.values():
        yield f"## {heading}\n"
        for name, paragraphs in entries(facts):
            yield f"`{name}`\n"
            yield from (f":   {_plain(text)}\n" for text in paragraphs if text)


def _plain(text: str) -> str:
    """Text without what Markdown takes for marks."""
    return MARKS.sub(r"\\\1", str(escape(text)))


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Documents link to each other by their places in the repository, which are others here. What
    the site does not have, source files and folders, becomes mere text."""
    uri = page.file.src_uri
    own = next((name for name in ALSO if _place(name) == uri), f"docs/{uri}")

    def moved(target: str) -> str | None:
        there = _place(posixpath.normpath(posixpath.join(posixpath.dirname(own), target)))
        if files.get_file_from_path(there) is None:
            return None
        return posixpath.relpath(there, posixpath.dirname(uri) or ".")

    def link(match: re.Match[str]) -> str:
        mark, text, target, place = match.groups(default="")
        there = moved(target)
        return text if there is None else f"{mark}[{text}]({there}{place})"

    def source(match: re.Match[str]) -> str:
        return f'{match[1]}="{moved(match[2])}"'

    return SOURCE.sub(source, LINK.sub(link, markdown))


def _place(name: str) -> str:
    """Where the site has a file of the repository."""
    return "index.md" if name == "README.md" else name.removeprefix("docs/")
