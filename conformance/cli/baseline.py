"""``conformance baseline``: a file of known failures from a run log."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.remote_paths import SourcePath
from conformance.safe_text import number_of

EXAMPLES = """
\b
Examples:
  conformance baseline --from reports/mylib/run.jsonl --out known.yaml
      list every failure of that run
  conformance check --backend mylib --known-failures known.yaml
      from now on only new failures fail the check
  conformance baseline --from run.jsonl --out known.yaml --force
      write it again; known failures keep their reason, link and expiry

An entry excuses a cause, not vectors: the known bugs that explain the outputs, the elements
that are wrong, or the message of an exception. Its reason is the diagnosis. Edit the file and
say why each failure is tolerated; see docs/ci.md.
"""

NARROWING = ("only", "dtypes", "ranks", "shard")
"""Options that leave out vectors of an operator."""


@click.command(epilog=EXAMPLES)
@click.option(
    "--from",
    "log",
    required=True,
    type=SourcePath(),
    metavar="RUN.jsonl",
    help="The log of a complete run, written by conformance check --out.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The YAML file to write.",
)
@click.option(
    "--reason", metavar="TEXT", help="Why the failures are tolerated [default: their diagnosis]."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def baseline(log: Path, out: Path, reason: str | None, force: bool) -> None:
    """Write a file of known failures from a run log."""
    from conformance.errors import UsageError
    from conformance.grade import baseline as baselines
    from conformance.log.reader import read_whole
    from conformance.report.registry import write_text
    from conformance.safe_text import visible

    run = read_whole(log)
    if reason is not None and not reason.strip():
        raise UsageError("the reason is empty", hint="say why the failures are tolerated")
    if out.exists() and not force:
        raise UsageError(
            f"{out}: the file exists, and may hold reasons that somebody wrote",
            hint="choose another name, or replace it with --force",
        )
    backend = run.header["backend"]
    assert run.footer is not None
    text = baselines.baseline(
        run.results,
        run.findings,
        reason=reason,
        otherwise=visible(
            f"Failed with {backend['name']} {backend['version']} on {run.header['started'][:10]}; "
            "not investigated yet."
        ),
        earlier={entry["entry"]: entry for entry in run.footer.get("known_failures", ())},
        is_complete=not any(run.header["options"].get(name) for name in NARROWING),
    )
    write_text(out, text, hint="name another file: --out FILE")
    failures = run.score.total.wrong
    click.echo(f"wrote {out}: {number_of(failures, 'failure')}", err=True)
