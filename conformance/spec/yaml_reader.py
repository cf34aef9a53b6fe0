"""A safe YAML reader with positions: mappings, lists, text, integers and booleans only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

import yaml

from conformance.errors import Problem, SpecError
from conformance.spec.yaml_source import Path, Source

MAX_BYTES = 200_000
MAX_DEPTH = 20
MAX_PARTS = 5_000
"""Values, lists and tables of a file together; the largest that is shipped has a third of that."""

KEPT = 64
"""How many texts are remembered with what they hold: more than are shipped."""

_ALIKE = re.compile("[\n ->@-~]*")
"""Text that libyaml and PyYAML read alike: ASCII without tabs, other line breaks and '?'."""


def read_text(path: FilePath) -> str:
    """Read a file, or just enough of it to show that it is too large.

    Raises :class:`~conformance.errors.SpecError` for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}"
        if isinstance(error, FileNotFoundError):
            message = "no such file"
        raise SpecError((Problem(str(path), 0, 0, message),)) from None


def parse_yaml(text: str, file: str, *, holds: str = "a specification") -> Source:
    """Read YAML text: mappings, lists, text, whole numbers, ``true`` and ``false``, nothing else.

    ``holds`` says what the file is expected to hold. Anchors, aliases and tags are refused, since
    a small file can expand to a huge one with them, and so is what is too long, too deep or has too
    many parts.
    Raises :class:`~conformance.errors.SpecError`.
    """
    return _parsed(text, file, holds).copy()


@lru_cache(maxsize=KEPT)
def _parsed(text: str, file: str, holds: str) -> Source:
    """What :func:`parse_yaml` gives. Files are asked for again and again, for what extends them."""
    source = Source(file)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        source.problem((), "the file is too large", expected=f"at most {MAX_BYTES} bytes")
        source.check()
    return _quickly(text, file) or _carefully(text, source, holds)


def _quickly(text: str, file: str) -> Source | None:
    """What libyaml reads, in a tenth of the time; None where PyYAML might read it otherwise.

    That is wherever there is a problem, so that problems and their places are always PyYAML's own.
    """
    if not (yaml.__with_libyaml__ and _ALIKE.fullmatch(text)):
        return None
    source = Source(file)
    try:
        _Reader(source, text, _alike(text)).read()
    except (yaml.YAMLError, SpecError):
        return None
    return None if source.data is None or source.problems else source


def _alike(text: str) -> Iterator[Any]:
    """The events of libyaml as PyYAML has them; YAMLError before one that may be another."""
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent):
            event.style = event.style or None
            if event.style in ("|", ">") or event.anchor or event.tag:
                raise yaml.YAMLError
            if event.style is None and not event.value:
                event.start_mark = event.end_mark = _place_of_nothing(text, event.start_mark)
        yield event


def _place_of_nothing(text: str, mark: Any) -> Any:
    """Where PyYAML places a value that is left out: behind its colon, or its key in ``{key}``.

    libyaml may place it at what comes next.
    """
    if text[mark.index : mark.index + 1] in (",", "}") and text[mark.index - 1] not in " \n:":
        return mark
    before = text[: mark.index].rstrip(" \n")
    column = len(before) - (before.rfind("\n") + 1)
    if not before.endswith(":") or "#" in before[-column:]:
        raise yaml.YAMLError
    line = mark.line - text.count("\n", len(before), mark.index)
    return yaml.Mark(mark.name, len(before), line, column, mark.buffer, mark.pointer)


def _carefully(text: str, source: Source, holds: str) -> Source:
    """What PyYAML reads, with every problem noted in ``source``, or raised."""
    try:
        _Reader(source, text, iter(yaml.parse(text, Loader=yaml.SafeLoader))).read()
    except yaml.MarkedYAMLError as error:
        line, column = _position(error.problem_mark or error.context_mark)
        message = f"this is not YAML: {error.problem or error.context}"
        hint = "text that holds ': ' or ' #', or begins with a sign, must be in quotes"
        source.note(line, column, message, hint=hint)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1
        message = f"the character {chr(error.character)!a} is not allowed"
        source.note(line, column, message)
    if source.data is None and not source.problems:
        source.problem((), "the file is empty", expected=holds)
    if source.data is None:
        source.check()
    return source


def _position(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


class _Reader:
    """Builds the data of ``source`` from the parser's events, which refer to nothing."""

    def __init__(self, source: Source, text: str, events: Iterator[Any]) -> None:
        self.source = source
        self.text = text
        self.events = events
        self.parts = 0

    def read(self) -> None:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if self.source.values:
                    self.refuse(event, "a second document", "one file holds one document")
                self.source.data = self.node(next(self.events), ())

    def node(self, event: Any, path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.refuse(
                event, "anchors and aliases are not allowed", "write it out where it is used"
            )
        if event.tag is not None:
            self.refuse(event, "tags are not allowed", "write the plain value")
        if len(path) > MAX_DEPTH:
            self.refuse(event, f"this is nested more than {MAX_DEPTH} deep", "")
        self.parts += 1
        if self.parts > MAX_PARTS:
            self.refuse(event, f"the file has more than {MAX_PARTS} parts", "")
        self.source.values[path] = _position(event.start_mark)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(entry := next(self.events), yaml.SequenceEndEvent):
                items.append(self.node(entry, (*path, len(items))))
            return items
        return self.scalar(event, path)

    def mapping(self, path: Path) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self.refuse(event, "a key is one word", "quote text that begins with [ or {")
            key = str(event.value)
            here = (*path, key)
            if key in mapping:
                line, column = _position(event.start_mark)
                message = f"'{key}' is given twice"
                first = self.source.keys[here][0]
                self.source.note(line, column, message, hint=f"first in line {first}")
                self.node(next(self.events), (*path, f"{key} (again)"))
                continue
            self.source.keys[here] = _position(event.start_mark)
            mapping[key] = None
            mapping[key] = self.node(next(self.events), here)
        return mapping

    def scalar(self, event: Any, path: Path) -> Any:
        text = str(event.value)
        written = self.text[event.start_mark.index : event.end_mark.index]
        inset = 0 if event.style is None else 1
        if written[inset : len(written) - inset] == text and "\n" not in text:
            self.source.insets[path] = inset
        if event.style is None:
            # Only what means the same to every reader: 'yes' and 'on' stay text, as does 010.
            if text in ("true", "false"):
                return text == "true"
            if re.fullmatch("0|-?[1-9][0-9]{0,18}", text):
                return int(text)
            if text in ("", "~", "null"):
                return None
        return text

    def refuse(self, event: Any, message: str, hint: str) -> None:
        line, column = _position(event.start_mark)
        self.source.note(line, column, message, hint=hint)
        self.source.check()
