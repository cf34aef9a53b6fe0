"""``conformance backends``: the backends that have a name."""

from __future__ import annotations

import click

from conformance.errors import install

EXAMPLES = """
\b
Your own backend needs no installation:
  conformance check --backend path/to/mylib.py:MyLib
  conformance check --backend mypackage.adapter:run
\b
Options follow the name, here and wherever a backend is named:
  conformance backends torch
      the options of one backend
  conformance check --backend "torch?device=cuda&threads=2"
  conformance check --backend torch --option device=cuda --option threads=2
\b
To name a backend, add an entry point to the pyproject.toml of its package:
  [project.entry-points."conformance.backends"]
  mylib = "mypackage.adapter:MyLib"
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
def backends(name: str | None) -> None:
    """List the backends that have a name, or the options of one."""
    from conformance.backends.discovery import available

    if name is not None:
        _show(name)
        return
    rows = available()
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        mark = "  " if row.installed else "- "
        click.echo(f"{mark}{row.name:{width}}  {row.summary}")
    missing = [row.name for row in rows if not row.installed]
    if missing:
        click.echo()
        click.echo(f"- not installed; for example: {install(missing[0])}")


def _show(name: str) -> None:
    """Print the options of a backend, which is imported and not created."""
    from conformance.backends.discovery import locate
    from conformance.backends.options import declared_by

    value = locate(name).value
    summary = (getattr(value, "__doc__", None) or "").strip().partition("\n")[0]
    click.echo(f"{name}: {summary}" if summary else name)
    options = declared_by(value)
    if not options:
        click.echo("no options")
    for option in options:
        default = "" if option.default is None else f" [default: {option.default}]"
        click.echo(f"  {option.name}: {option.help} It is {option.expected}.{default}")
