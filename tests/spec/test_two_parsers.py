"""libyaml and PyYAML, which do not read the same YAML, have to give the same."""

from __future__ import annotations

import random

import pytest
import yaml
from spec_examples import EXAMPLE

from conformance.errors import SpecError
from conformance.resources import directory
from conformance.spec import yaml_reader
from conformance.spec.yaml_source import Source

FILES = sorted(directory("specs").rglob("*.yaml"))
PIECES = (
    *("- ", "-", ": ", ":", "? ", "[", "]", "{", "}", ",", " ", "  ", "\n", "\n  ", "\n- "),
    *("\n  - ", "a", "a: b", "a:b", "{a: 1}", "{a}", "[a: b]", "[1, 2]", '"x"', "'y'", '"', "'"),
    *("#", " # c", "# c:\n", "|", ">-\n  ", ">#", "&a ", "*a", "!t ", "---", "\n---\n", "\n...\n"),
    *("%YAML 1.1\n", "@", "`", "\\", "~", "<<", "\n\n", "key:", "\nkey:", "\t", "\r\n", "\ufeff"),
    *("é", "\u2028", "\x07", "x" * 1100 + ": "),
)


def outcome(text: str) -> object:
    """What is read, or all that is said of it."""
    try:
        return yaml_reader.parse_yaml(text, "x")
    except SpecError as error:
        return error.problems


needs_libyaml = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML without libyaml")


@needs_libyaml
def test_what_is_shipped_is_read_by_libyaml() -> None:
    """The fixture ``read_twice`` compares it; what matters here is that it is not read slowly."""
    slow = [path for path in FILES if yaml_reader._quickly(path.read_text(), path.name) is None]
    assert slow == []


@pytest.mark.parametrize(
    "text",
    [
        "a: {b: }\n",
        "a: {b: ,\n c: 1}\n",
        "a: {b:\n   , c}\n",
        "a: {b: # c:\n }\n",
        "a: # b\n",
        "a:\n\n# c\nb:\n",
        "[a:   ]\n",
        "a: >#\n  b\n",
        "a: |\n  b\n  c\n",
        "? a\n: b\n",
        "? =\n  a:b    # c:\n",
        "{pads_be?gin: 1}\n",
        "a:\n  &b :\n",
        "---\n",
        "a: 1\r\nb: 2\r\n",
        "\ufeffa: 1\n",
        "a: 'é'\n",
    ],
)
def test_what_they_read_otherwise(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = outcome(text)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert found == outcome(text)


@needs_libyaml
@pytest.mark.parametrize("seed", range(5))
def test_spoiled_files(seed: int) -> None:
    """Lines of real files with pieces of syntax thrown in, and syntax alone."""
    draw = random.Random(seed)
    texts = [path.read_text() for path in FILES] + [EXAMPLE]
    read = 0
    for _ in range(250):
        lines = draw.choice(texts).split("\n")
        first = draw.randrange(len(lines))
        text = "\n".join(lines[first : first + draw.randint(0, 12)])
        for _ in range(draw.randint(0, 3) if text else draw.randint(1, 12)):
            at = draw.randrange(len(text) + 1)
            until = at + draw.choice([0, 0, 1, 5])
            text = text[:at] + draw.choice(PIECES) + text[until:]
        read += yaml_reader._quickly(text, "x") is not None
    assert read > 20


def test_a_bomb_stays_small_for_both() -> None:
    """No parser expands anything: an alias is refused where it stands, before and after."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12)]
    assert yaml_reader._quickly("\n".join(lines), "x") is None
    with pytest.raises(SpecError, match="anchors and aliases"):
        yaml_reader._carefully("\n".join(lines), Source("x"), "")
