"""Names, docstrings and prose keep to the glossary: a name says what it holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from conformance.cli import main

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "conformance"

BANNED = {"one", "found", "asked", "told"}
"""Names that say nothing of a value: the singular of what is iterated, or the noun, is better."""

EXCEPTIONS = {
    "generate": "not yet",
    "model": "not yet",
}
"""Packages, and modules beside them, to which the rules do not apply, each with the reason."""

NO_VERB = re.compile(
    "A|All|An|And|Any|As|At|Both|By|Each|Every|For|From|How|If|In|Its?|No|None|Nothing|Of|On|One|"
    "Several|Some|Such|That|The|Their|These|This|Those|What|When|Where|Whether|Which|Whichever|"
    "Who|Whose|Why|With|Without"
)
"""Words that begin no order."""

VERBS = re.compile("Apply|Bring|Compress|Embed|Exceed|Feed|Imply|Multiply|Need|Pass|Process")
"""Verbs that look like something else."""

REPLACED = {
    r"second bank": "held-out mutants",
    r"impostors?": "trivial implementation",
    r"must-reject": "negative test",
    r"(?:is|are|was|were) noticed": "killed",
    r"open elements?": "unspecified element",
    r"twin vectors?|twins": "paired case",
    r"(?:is|are) said of": "reported",
    r"goes on where": "resumes",
    r"read otherwise": "under another interpretation",
}
"""What the glossary replaces, as a pattern, and what to write."""


def modules(name: str) -> list[Path]:
    path = PACKAGE / name
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


EVERY = sorted(
    {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    | {path.stem for path in PACKAGE.glob("*.py")}
)
CLEAN = [name for name in EVERY if name not in EXCEPTIONS]


def banned(text: str) -> list[str]:
    """The bindings of banned names: ``LINE: NAME``."""
    bindings = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                bindings.append((node.lineno, name))
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bindings.append((node.lineno, name))
    return [f"{line}: {name}" for line, name in sorted(bindings) if name in BANNED]


def public(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The public functions, and the public methods of public classes, but for properties."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node)
        elif (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        ):
            yield node


def is_verb(word: str) -> bool:
    """Whether a word may begin an order: it is no third person, participle, noun or adverb."""
    if VERBS.fullmatch(word):
        return True
    looks_wrong = re.search(r"([^s]s|ed|ing|ly|[ts]ion|ness|ity)$", word)
    is_word = re.fullmatch(r"[A-Z][a-z]+", word) and not NO_VERB.fullmatch(word)
    return bool(is_word) and not looks_wrong


def no_orders(text: str) -> list[str]:
    """The public functions whose docstring begins with no verb: ``LINE: FIRST WORD``."""
    documented = ((node, ast.get_docstring(node)) for node in public(ast.parse(text)))
    first_words = (
        (node.lineno, words.split()[0].strip(",.;")) for node, words in documented if words
    )
    return [f"{line}: {word}" for line, word in first_words if not is_verb(word)]


def too_long(text: str) -> list[str]:
    """The public functions whose docstring begins with a sentence of more than 15 words."""
    documented = ((node, ast.get_docstring(node)) for node in public(ast.parse(text)))
    sentences = (
        (node.lineno, re.split(r"\.\s", words)[0].split("\n\n")[0].split())
        for node, words in documented
        if words
    )
    return [f"{line}: {len(words)} words" for line, words in sentences if len(words) > 15]


def helps(
    command: click.Command, path: str = "conformance", above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it, by the words that ask for it."""
    # A command keeps its help option, whose names come from the context above it.
    context = click.Context(command, above, path, **command.context_settings)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from helps(below, f"{path} {name}", context)


def replaced(text: str) -> list[str]:
    """The words of a text that the glossary replaces, but for code."""
    prose = " ".join(re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL).split())
    return [
        f"{match[0]}: write '{better}'"
        for pattern, better in REPLACED.items()
        for match in re.finditer(rf"\b(?:{pattern})\b", prose, re.IGNORECASE)
    ]


@pytest.mark.parametrize("package", CLEAN)
def test_names_say_what_they_hold(package: str) -> None:
    assert {str(path): banned(path.read_text("utf-8")) for path in modules(package)} == {
        str(path): [] for path in modules(package)
    }


@pytest.mark.parametrize("package", CLEAN)
def test_docstrings_of_functions_begin_with_a_verb(package: str) -> None:
    assert {str(path): no_orders(path.read_text("utf-8")) for path in modules(package)} == {
        str(path): [] for path in modules(package)
    }


@pytest.mark.parametrize("package", CLEAN)
def test_docstrings_of_functions_begin_with_a_short_sentence(package: str) -> None:
    assert {str(path): too_long(path.read_text("utf-8")) for path in modules(package)} == {
        str(path): [] for path in modules(package)
    }


def test_exceptions_are_needed() -> None:
    """A package that is clean goes out of the list, so that it stays clean."""
    needless = [
        name
        for name in EXCEPTIONS
        if not any(
            banned(text) or no_orders(text) or too_long(text)
            for text in (path.read_text("utf-8") for path in modules(name))
        )
    ]
    assert needless == []


@pytest.mark.parametrize(
    "file", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_pages_use_the_words_of_the_glossary(file: Path) -> None:
    assert replaced(file.read_text("utf-8")) == []


def test_help_uses_the_words_of_the_glossary() -> None:
    texts = dict(helps(main))
    assert len(texts) > 20
    assert {path: words for path, text in texts.items() if (words := replaced(text))} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for one in range(3):\n    pass", ["1: one"]),
        ("def read(found, *, asked=1): ...", ["1: found", "1: asked"]),
        ("def told(): ...", ["1: told"]),
        ("x = [one for one in 'ab']", ["1: one"]),
        ("if (found := 1): pass", ["1: found"]),
        ("class Case:\n    asked: int", ["2: asked"]),
        ("print(case.asked, found)", []),
        ("once = 1\nones = 2", []),
    ],
)
def test_it_sees_each_way_to_bind_a_name(text: str, expected: list[str]) -> None:
    assert sorted(banned(text)) == sorted(expected)


@pytest.mark.parametrize("word", ["Read", "Apply", "Pass", "Process", "Return", "Describe"])
def test_verbs_begin_an_order(word: str) -> None:
    assert is_verb(word)


@pytest.mark.parametrize(
    "word",
    [
        "What",
        "Whether",
        "The",
        "Reads",
        "Names",
        "Taking",
        "Selection",
        ":func:`x`",
        "``x``",
    ],
)
def test_others_do_not(word: str) -> None:
    assert not is_verb(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The second\nbank is small.", ["second bank: write 'held-out mutants'"]),
        ("`impostor` is a key; see [this](impostor.md).", []),
        ("```\nmust-reject\n```", []),
        ("A must-reject vector", ["must-reject: write 'negative test'"]),
    ],
)
def test_words_in_code_are_no_prose(text: str, expected: list[str]) -> None:
    assert replaced(text) == expected
