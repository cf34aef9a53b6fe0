"""The options of a check, each a field; commands, the Python interface and the log follow them.

It is quick to import, so that a help text and the pytest plugin can read it.
"""

from __future__ import annotations

import enum
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from conformance.choices import LEVEL_HELP, LEVELS, PRECISION_HELP, sentences

MAX_SEED = 2**32 - 1


class Section(enum.StrEnum):
    """The headings below which the help of ``conformance check`` lists options."""

    TESTED = "What is tested"
    GRADED = "How it is graded"
    RUN = "How the backend runs"
    GATE = "What fails the run"
    REPORTS = "Reports"
    SHARDS = "Shards and clusters"


@dataclass(frozen=True)
class OptionFacts:
    """What commands, documentation and the log need to know of an option besides its default.

    ``type`` is that of a value, or of each value of a repeatable option. ``parse`` reads the texts
    of a repeatable option that takes lists with commas. ``minimum`` and ``maximum`` bound a number.
    ``logged_as_given`` is false where the log's header has what the run makes of the value: the
    executor's settings, the gate's files, a precision for each element type.
    """

    help: str
    section: Section
    flag: str = ""
    short_flag: str = ""
    metavar: str | None = None
    type: type = str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    parse: Callable[[Sequence[str]], tuple[Any, ...]] | None = None
    logged_as_given: bool = True


def _facts(section: Section, help: str, **facts: Any) -> dict[str, OptionFacts]:
    """Make the metadata of a field of :class:`CheckOptions`."""
    return {"facts": OptionFacts(help, section, **facts)}


def split_commas(texts: Sequence[str]) -> tuple[str, ...]:
    """Split lists with commas into their words."""
    return tuple(word.strip() for text in texts for word in text.split(","))


def parse_ranks(texts: Sequence[str]) -> tuple[int, ...]:
    """Read lists of ranks such as ``3,4``.

    Raises:
        UsageError: a word that is no number.
    """
    from conformance.errors import UsageError

    words = split_commas(texts)
    for word in words:
        if not re.fullmatch("[0-9]{1,9}", word):
            raise UsageError(f"there is no rank {word[:40]!r}", hint="name ranks as in 3,4")
    return tuple(map(int, words))


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What a check is to test and how, as ``conformance check`` and its Python form take it.

    The values are those of the user: the run checks them. An empty sequence stands for all.
    """

    ops: Sequence[str] = field(
        default=(),
        metadata=_facts(
            Section.TESTED,
            "Only this operator, or those that match a pattern such as 'onnx.*'",
            flag="--op",
            metavar="OP",
            logged_as_given=False,
        ),
    )
    only: Sequence[str] = field(
        default=(),
        metadata=_facts(
            Section.TESTED, "Only vectors whose id begins or ends with this", metavar="ID"
        ),
    )
    dtypes: Sequence[str] = field(
        default=(),
        metadata=_facts(
            Section.TESTED,
            "Only data of these element types, for example f32 or f16,f32",
            metavar="T,..",
            parse=split_commas,
            logged_as_given=False,
        ),
    )
    ranks: Sequence[int] = field(
        default=(),
        metadata=_facts(
            Section.TESTED,
            "Only data of these ranks, for example 4 or 3,4",
            metavar="N,..",
            parse=parse_ranks,
            logged_as_given=False,
        ),
    )
    level: str = field(
        default="must", metadata=_facts(Section.GRADED, sentences(LEVEL_HELP), choices=LEVELS)
    )
    precision: str | Mapping[str, str] = field(
        default="standard",
        metadata=_facts(
            Section.GRADED,
            f"{sentences(PRECISION_HELP)} T=P sets the precision of one element type.",
            metavar="P|T=P,..",
            logged_as_given=False,
        ),
    )
    executor: str | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "process: run the backend in worker processes, so that a crash or hang loses one "
            "vector. inline: in this process. Default: process; inline for numpy and reference.",
            choices=("process", "inline"),
            logged_as_given=False,
        ),
    )
    jobs: int | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "Number of worker processes [default: 1].",
            short_flag="-j",
            metavar="N",
            type=int,
            minimum=1,
            logged_as_given=False,
        ),
    )
    timeout: float | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "Seconds per vector [default: 30]. Loading the backend gets at least 120 s.",
            metavar="SECONDS",
            type=float,
            logged_as_given=False,
        ),
    )
    memory: int | str | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "Memory per worker process, for example 4G [default: no limit].",
            metavar="SIZE",
            logged_as_given=False,
        ),
    )
    env: str | Path | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "Run the backend in this virtual environment. It needs the backend, numpy and "
            "ml_dtypes, but not this package.",
            metavar="VENV",
            logged_as_given=False,
        ),
    )
    repeat: int = field(
        default=1,
        metadata=_facts(
            Section.RUN,
            "Run each vector N times; outputs that differ in any bit are a failure.",
            metavar="N",
            type=int,
            minimum=1,
        ),
    )
    known_failures: str | Path | None = field(
        default=None,
        metadata=_facts(
            Section.GATE,
            "Failures listed in this YAML file do not fail the run; the verdict stays not "
            "conformant.",
            metavar="FILE",
            type=Path,
            logged_as_given=False,
        ),
    )
    require: str | Path | None = field(
        default=None,
        metadata=_facts(
            Section.GATE,
            "Fail if anything listed in this YAML file is not supported.",
            metavar="FILE",
            type=Path,
            logged_as_given=False,
        ),
    )
    strict: bool = field(
        default=False,
        metadata=_facts(
            Section.GATE,
            "Fail if an entry of the known failures is out of date: it passes, matches nothing or "
            "has expired.",
            type=bool,
            logged_as_given=False,
        ),
    )
    min_strength: float | None = field(
        default=None,
        metadata=_facts(
            Section.GATE,
            "Mutation score that the passing vectors must reach in each element type and rank. "
            "Below it, or where it is unknown, a run without failures is inconclusive. 0 turns "
            "this off [default: 95].",
            metavar="PERCENT",
            type=float,
            minimum=0,
            maximum=100,
        ),
    )
    shuffle: int | None = field(
        default=None,
        metadata=_facts(
            Section.RUN,
            "Shuffle the vectors with this seed, to expose order-dependent results.",
            metavar="SEED",
            type=int,
            minimum=0,
            maximum=MAX_SEED,
        ),
    )
    shard: str | None = field(
        default=None,
        metadata=_facts(
            Section.SHARDS,
            "Run part K of N. A shard makes no claim; `conformance merge` joins all of them.",
            metavar="K/N",
        ),
    )

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> CheckOptions:
        """Take the options out of arguments of several kinds, by their names."""
        return cls(**{name: arguments[name] for name in OPTIONS})

    @property
    def env_name(self) -> str | None:
        """The virtual environment as a command line names it."""
        return None if self.env is None else str(self.env)

    def header(self, settled: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options as a log's header has them.

        Args:
            settled: what the run made of the options that are not logged as given, and members
                that are no options.
        """
        given = {name: getattr(self, name) for name in OPTIONS if OPTIONS[name].logged_as_given}
        given |= {name: list(given[name]) for name in given if is_repeatable(name)}
        entries = {**given, **settled}
        return {name: entries[name] for name in OPTIONS} | entries


OPTIONS: dict[str, OptionFacts] = {
    entry.name: entry.metadata["facts"] for entry in fields(CheckOptions)
}
"""What is known of each option, by its name."""

DEFAULTS = CheckOptions()

SESSION_OPTIONS = ("ops", "dtypes", "ranks", "level", "precision", "known_failures")
"""The options of a check that a session of pytest takes."""


def flag_of(name: str) -> str:
    """Return the long flag of an option, such as ``--min-strength``."""
    return OPTIONS[name].flag or f"--{name.replace('_', '-')}"


def is_repeatable(name: str) -> bool:
    """Say whether an option can be given several times."""
    return getattr(DEFAULTS, name) == ()


def help_of(name: str) -> str:
    """Return the help of an option on a command line."""
    return OPTIONS[name].help + ("; repeatable." if is_repeatable(name) else "")


def parse_value(name: str, value: Any) -> Any:
    """Read the value of an option: texts, where it takes lists with commas.

    Raises:
        UsageError: a list that cannot be read.
    """
    parse = OPTIONS[name].parse
    return value if parse is None else parse(value)


def options_of(section: Section) -> tuple[str, ...]:
    """Return the names of the options in a section."""
    return tuple(name for name, facts in OPTIONS.items() if facts.section is section)


def describe_options() -> str:
    """Return the section of a docstring that documents the options as keyword arguments."""
    entries = (f"{name}: {facts.help.rstrip('.')}." for name, facts in OPTIONS.items())
    wrapper = textwrap.TextWrapper(96, initial_indent=" " * 8, subsequent_indent=" " * 12)
    return "\n".join(("    Options:", *map(wrapper.fill, entries)))
