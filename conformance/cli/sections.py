"""Help texts that list commands or options in sections with a heading each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import click

Sections = Mapping[str, Collection[str]]
"""The names of commands or parameters, by the heading of their section."""

WIDEST = 30
"""The widest first column of a help text, as in click."""


class SectionedCommand(click.Command):
    """A command that lists its options in ``sections``; all others come last."""

    def __init__(self, *args: Any, sections: Sections, **more: Any) -> None:
        super().__init__(*args, **more)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = ((option.name or "", option.get_help_record(ctx)) for option in options)
        rows = {name: record for name, record in records if record is not None}
        write_sections(formatter, self.sections, rows)


def write_sections(
    formatter: click.HelpFormatter, sections: Sections, rows: Mapping[str, tuple[str, str]]
) -> None:
    """Write the rows of each section under its heading, and the others under "Other"."""
    width = max((len(term) for term, _ in rows.values() if len(term) <= WIDEST), default=0)
    placed = {name for names in sections.values() for name in names}
    other = [name for name in rows if name not in placed]
    for heading, names in {**sections, "Other": other}.items():
        aligned = [(rows[name][0].ljust(width), rows[name][1]) for name in names if name in rows]
        if aligned:
            with formatter.section(heading):
                formatter.write_dl(aligned, col_max=WIDEST)
