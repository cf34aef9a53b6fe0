"""``conformance check-outputs``: grades the outputs that a device computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.check_options import CheckOptions
from conformance.cli.check import SECTIONS, check, confirm_digest
from conformance.cli.formats import page, targets
from conformance.cli.remote_paths import SourcePath
from conformance.cli.run_check import LOG, exit_code, run_check, write_reports
from conformance.cli.sections import SectionedCommand

EXAMPLES = """
\b
Examples:
  conformance check-outputs board --op AvgPool-1 --out reports/board
      outputs in the folder of the export, with board/device.json
\b
Options are those of conformance check. Give the same --suite, --op, --only,
--dtypes, --ranks and --level as to conformance export. Everything in the
folder is checked first: missing, surplus and short files are errors, and so
are outputs of another export.
"""

LEFT_OUT = (
    *("backend", "option", "env", "executor", "jobs", "timeout", "memory", "repeat"),
    *("complete", "resume", "shard", "cluster", "insecure", "shuffle"),
)
"""Options of `check` about how a backend is run."""


def _check_outputs(
    folder: Path, out: Path | None, formats: tuple[str, ...], **settings: Any
) -> None:
    """Grade the outputs that a device computed from an export."""
    from conformance.exchange.outputs import DeviceExecutor

    report_targets = targets(formats, out, log=out and out / LOG)
    if out is not None:
        report_targets = (page(out, "--out"), *report_targets)
    suite, digest = settings.pop("suite"), settings.pop("suite_digest")
    if digest is not None:
        confirm_digest(suite, digest)
    run = run_check(
        suite,
        DeviceExecutor(folder),
        CheckOptions(**settings),
        out=out,
        reports=report_targets,
    )
    write_reports(run, report_targets, out)
    click.get_current_context().exit(exit_code(run))


check_outputs = SectionedCommand(
    "check-outputs",
    sections=SECTIONS,
    callback=_check_outputs,
    help=_check_outputs.__doc__,
    epilog=EXAMPLES,
    params=[
        click.Argument(["folder"], metavar="DIR", type=SourcePath(file_okay=False)),
        *(param for param in check.params if param.name not in LEFT_OUT),
    ],
)
