"""How the runner of GitHub Actions reads commands from the output of a step.

Written after ``ActionCommand.cs`` of the runner: a line is a command if it begins, after white
space, with ``::``; else the older ``##[`` is looked for anywhere in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

REGISTERED = {
    *("error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "add-path", "echo"),
    *("add-matcher", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands"),
}
DATA = {"%0D": "\r", "%0A": "\n"}
PROPERTY = DATA | {"%3A": ":", "%2C": ","}
OLD = DATA | {"%3B": ";", "%5D": "]"}


@dataclass(frozen=True)
class Command:
    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def commands(output: str) -> list[Command]:
    """The commands of an output; lines that are none are left out.

    ``stop-commands`` is not among them: up to the line that says its token again, nothing is.
    """
    found: list[Command] = []
    token = None
    for line in re.split(r"\r\n|\r|\n", output):
        if token is not None:
            token = None if line.lstrip().startswith(f"::{token}::") else token
            continue
        command = _new(line) or _old(line)
        if command is not None and command.name == "stop-commands":
            token = command.data
        elif command is not None:
            found.append(command)
    return found


def _new(line: str) -> Command | None:
    found = re.match(r"\s*::(.*?)::(.*)", line, re.DOTALL)
    return _command(found[1], found[2], ",", PROPERTY, DATA) if found else None


def _old(line: str) -> Command | None:
    found = re.search(r"##\[(.*?)\](.*)", line, re.DOTALL)
    return _command(found[1], found[2], ";", OLD, OLD) if found else None


def _command(
    info: str, data: str, separator: str, in_property: dict[str, str], in_data: dict[str, str]
) -> Command | None:
    name, _, rest = info.partition(" ")
    if name not in REGISTERED:
        return None
    pairs = (pair.partition("=") for pair in rest.strip().split(separator) if pair)
    properties = {key: _unescape(value, in_property) for key, _, value in pairs}
    return Command(name, _unescape(data, in_data), properties)


def _unescape(text: str, escapes: dict[str, str]) -> str:
    for escape, character in escapes.items():
        text = text.replace(escape, character)
    return text.replace("%25", "%")
