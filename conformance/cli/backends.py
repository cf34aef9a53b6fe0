"""``conformance backends``: the backends that have a name."""

from __future__ import annotations

import click

EXAMPLES = """
\b
Your own backend needs no installation:
  conformance check --backend path/to/mylib.py:MyLib
  conformance check --backend mypackage.adapter:run
\b
To name a backend, add an entry point to the pyproject.toml of its package:
  [project.entry-points."conformance.backends"]
  mylib = "mypackage.adapter:MyLib"
"""


@click.command(epilog=EXAMPLES)
def backends() -> None:
    """List the backends that have a name."""
    from conformance.backends.discovery import available

    found = available()
    width = max((len(row.name) for row in found), default=0)
    for row in found:
        state = "  " if row.installed else "- "
        click.echo(f"{state}{row.name:{width}}  {row.summary}")
    missing = [row.name for row in found if not row.installed]
    if missing:
        click.echo()
        click.echo("- not installed; for example: pip install " + f"'opconform[{missing[0]}]'")
