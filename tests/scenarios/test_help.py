"""Every help text fits a terminal, has examples that work, and says what exit codes mean."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from conformance.cli import COMMANDS, SECTIONS, check, main


def commands(command: click.Command = main, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command, as the words that call it."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, *path, name)


ALL = list(commands())


def shown(*words: str) -> str:
    """The help as a terminal of 80 columns shows it."""
    found = CliRunner().invoke(main, [*words, "--help"], env={"COLUMNS": "80"})
    assert found.exit_code == 0
    return found.stdout


def examples(*words: str) -> list[str]:
    """Lines that are a command, without the remark that may follow on the same line."""
    lines = (line.strip() for line in shown(*words).splitlines())
    return [re.split(r"\s{2,}", line)[0] for line in lines if line.startswith("conformance ")]


def named(words: tuple[str, ...]) -> str:
    return " ".join(words) or "conformance"


@pytest.mark.parametrize("words", ALL, ids=named)
class TestEveryCommand:
    def test_fits_80_columns(self, words: tuple[str, ...]) -> None:
        assert max(map(len, shown(*words).splitlines())) <= 80

    def test_says_what_it_does_in_sentences(self, words: tuple[str, ...]) -> None:
        purpose = shown(*words).split("\n\n")[1].strip()
        assert purpose[0].isupper()
        assert purpose.endswith(".")

    def test_explains_each_option(self, words: tuple[str, ...]) -> None:
        for option in options(words):
            assert option.help, option.name

    def test_has_examples_that_parse(self, words: tuple[str, ...]) -> None:
        found = examples(*words)
        assert found
        for line in found:
            parse(shlex.split(line)[1:])


def parse(words: list[str]) -> None:
    """Let click read a command line, and run nothing; it raises UsageError where it is wrong."""
    command: click.Command = main
    path = []
    while isinstance(command, click.Group):
        path.append(words[0])
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, path
        command, words = found, words[1:]
    if words != ["--help"]:
        command.make_context(" ".join(path), list(words))


def test_examples_with_an_option_that_is_none_are_noticed() -> None:
    parse(["check", "--backend", "numpy", "--level", "should"])
    for wrong in (["--backnd", "numpy"], ["--backend", "numpy", "--level", "may"], []):
        with pytest.raises(click.UsageError):
            parse(["check", *wrong])


@pytest.mark.parametrize("words", [(), ("check",)], ids=named)
def test_exit_codes_are_explained(words: tuple[str, ...]) -> None:
    text = shown(*words)
    codes = text[text.index("Exit codes:") :]
    for code in ("0", "1", "2", "3", "130"):
        assert re.search(rf"\b{code}\b", codes)


@pytest.mark.parametrize("words", [("spec", "lint"), ("suite", "lint")], ids=named)
def test_a_check_says_how_it_fails(words: tuple[str, ...]) -> None:
    assert "Exits with 2 if there is any problem." in shown(*words)


def test_the_list_of_commands_is_complete() -> None:
    text = shown()
    for name, purpose in COMMANDS.items():
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
        assert purpose.split()[0] in text
    assert {words[0] for words in ALL if words} == set(COMMANDS)


def test_short_help_and_version() -> None:
    assert CliRunner().invoke(main, ["-h"]).stdout == CliRunner().invoke(main, ["--help"]).stdout
    assert CliRunner().invoke(main, ["--version"]).stdout.startswith("conformance, version ")


@pytest.mark.skipif(os.name != "posix", reason="a shell as on POSIX")
def test_a_closed_output_is_no_defect() -> None:
    code = "from conformance.cli import main; main()"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} backends >&-"
    found = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""


def test_the_package_is_a_command_too() -> None:
    command = [sys.executable, "-m", "conformance", "check", "--nope"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith("error: no such option")


def headings(text: str) -> list[str]:
    """The headings of the sections of a help text."""
    return [line[:-1] for line in text.splitlines() if re.fullmatch(r"[A-Z][^.]*:", line)]


def test_commands_are_listed_in_sections() -> None:
    assert headings(shown()) == ["Options", *SECTIONS]
    assert SECTIONS["Look at a failure"].keys() == {"show", "repro"}


@pytest.mark.parametrize("name", ["check", "check-outputs"])
def test_options_of_a_check_are_listed_in_sections(name: str) -> None:
    text = shown(name)
    used = [one for one in check.SECTIONS if one in headings(text)]
    assert headings(text) == [*used, "Other"]
    other = text.partition("\nOther:\n")[2].partition("\n\n")[0]
    assert other.split()[:2] == ["-h,", "--help"]
    assert other.count("--") == 1


SPELLED = {
    "--dtypes": ("dtypes",),
    "--ranks": ("ranks",),
    "--jobs": ("jobs", "processes"),
    "--out": ("out",),
    "--op": ("op", "ops"),
}
"""The spelling of an option, and the names of the parameter that it sets."""


def test_an_option_is_spelled_alike_in_all_commands() -> None:
    for words in ALL:
        for option in options(words):
            for spelling, names in SPELLED.items():
                assert (option.name in names) == (spelling in option.opts), (words, option.opts)
            assert ("-j" in option.opts) == ("--jobs" in option.opts)


def options(words: tuple[str, ...]) -> list[click.Option]:
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return [one for one in command.params if isinstance(one, click.Option)]


@pytest.mark.parametrize(
    ("words", "message", "command"),
    [
        (["--nope"], "no such option", "conformance"),
        (["chekc"], "no such command 'chekc': did you mean 'check'?", "conformance"),
        (["audit"], "no such command 'audit': did you mean 'suite audit'?", "conformance"),
        (["docs"], "no such command 'docs': did you mean 'spec docs'?", "conformance"),
        (["check"], "missing option '--backend'", "conformance check"),
        (
            ["check", "--backend", "numpy", "-j", "x"],
            "invalid value for '-j' / '--jobs': 'x' is not a valid integer",
            "conformance check",
        ),
        (["spec", "lnit"], "no such command 'lnit'", "conformance spec"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value[:2]),
)
def test_wrong_words_are_told_as_any_other_error(words, message, command) -> None:
    shown = CliRunner().invoke(main, words, prog_name="conformance")
    assert shown.exit_code == 2
    assert shown.stderr.startswith(f"error: {message}")
    assert shown.stderr.endswith(f"\n  hint: {command} --help lists what it takes\n")
    assert "Usage" not in shown.stderr
