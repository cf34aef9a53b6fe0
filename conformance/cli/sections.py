"""Help texts that list commands or options in sections with a heading each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import click

Sections = Mapping[str, Collection[str]]
"""The names of commands or parameters, by the heading of their section."""

MAX_WIDTH = 30
"""Characters of the first column of a help text, as in click."""


class SectionedCommand(click.Command):
    """A command that lists its options in ``sections``; all others come last."""

    def __init__(self, *args: Any, sections: Sections, **options: Any) -> None:
        super().__init__(*args, **options)
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
    width = max((len(term) for term, _ in rows.values() if len(term) <= MAX_WIDTH), default=0)
    listed = {name for names in sections.values() for name in names}
    unlisted = [name for name in rows if name not in listed]
    for heading, names in {**sections, "Other": unlisted}.items():
        aligned = [(rows[name][0].ljust(width), rows[name][1]) for name in names if name in rows]
        if aligned:
            with formatter.section(heading):
                formatter.write_dl(aligned, col_max=MAX_WIDTH)
