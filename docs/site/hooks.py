"""What the site has beside the documents: pages of operators, and no link that leads nowhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from markupsafe import escape
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from conformance.cli import definition_text
from conformance.cli.spec_text import SECTIONS, Entry
from conformance.core.loader import load_operator, shipped_names
from conformance.docs.definition_facts import DefinitionFacts
from conformance.docs.html import definition_page, operator_page
from conformance.docs.operator_facts import OperatorFacts, collect_facts
from conformance.spec.loader import shipped_specs
from conformance.suite.store import open_suite

FOLDER = "operators"
"""Where operators have their pages: a short one each, which is searched, and a whole one."""

SHORT = ("interface", "attributes", "conditions", "errata", "readings", "reject")
"""What a short page tells; rules, targets with pictures and known bugs are on the whole one."""

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
    names = sorted((*shipped_specs(), *shipped_names()))
    assert config.nav is not None
    config.nav.insert(2, {"Operators": [{op: f"{FOLDER}/{op}.md"} for op in names]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name in ALSO:
        files.append(File.generated(config, _place(name), abs_src_path=str(REPOSITORY / name)))
    suite = open_suite()
    for op, spec in shipped_specs().items():
        told = collect_facts(spec, suite)
        whole = f"{op}-whole.html"
        pages = {f"{op}.md": "\n".join(_short(told, whole)), whole: operator_page(told)}
        for name, content in pages.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    for op in shipped_names():
        facts, whole = DefinitionFacts(load_operator(op)), f"{op}-whole.html"
        pages = {f"{op}.md": "\n".join(_definition(facts, whole)), whole: definition_page(facts)}
        for name, content in pages.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def _definition(facts: DefinitionFacts, whole: str) -> Iterator[str]:
    """The lines of the short page of an operator that is a definition."""
    yield f"# {facts.op}\n\n{_plain(facts.summary)}\n"
    if facts.document is not None:
        yield f"[{_plain(facts.document.title)}]({facts.document.url}){{rel=noreferrer}}\n"
    yield f"[The page with formulas]({whole}) says the same in mathematical notation.\n"
    for heading, entries in definition_text.SECTIONS.values():
        yield from _section(heading, entries(facts))


def _section(heading: str, entries: Iterable[Entry]) -> Iterator[str]:
    yield f"## {heading}\n"
    for name, paragraphs in entries:
        yield f"`{name}`\n"
        yield from (f":   {_plain(text)}\n" for text in paragraphs if text)


def _short(told: OperatorFacts, whole: str) -> Iterator[str]:
    """The lines of an operator's short page."""
    spec = told.spec
    yield f"# {spec.op}\n\n{_plain(spec.summary)}\n"
    yield f"[{_plain(spec.document.title)}]({spec.document.url}){{rel=noreferrer}}\n"
    yield (
        f"[The whole page]({whole}) has the rules as formulas, {len(spec.edges)} coverage targets "
        f"with pictures, and {len(told.mutants)} known bugs.\n"
    )
    for section in SHORT:
        heading, entries = SECTIONS[section]
        yield from _section(heading, entries(told))


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
