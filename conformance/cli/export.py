"""``conformance export``: vectors for a device this machine cannot reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.check_options import CheckOptions
from conformance.cli.options import backend_options, check_option, selection_options
from conformance.cli.progress import Progress
from conformance.cli.remote_paths import TargetPath
from conformance.cli.run_check import evaluate
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.backends.capabilities import Capabilities

EXAMPLES = """
\b
Examples:
  conformance export --format raw --op AvgPool-1 --out board
      flat binary files, and one line of text per case in board/cases.txt
  conformance export --format onnx --backend onnxruntime --out models
      an ONNX model and .npy inputs for each case that onnxruntime supports
  conformance export --format npy --capabilities npu.json --out npu
      for a device that supports what npu.json says
\b
The device writes its outputs beside the inputs; see docs/exchange.md. Then:
  conformance check-outputs board --op AvgPool-1
"""

MAX_DECLARATION = 1 << 20


@click.command(epilog=EXAMPLES)
@click.option(
    "--format",
    "layout",
    required=True,
    type=click.Choice(["raw", "npy", "onnx", "openvino-ir"]),
    help="raw: flat files and lines of text. npy: .npy files and JSON. onnx, openvino-ir: a model "
    "and its inputs.",
)
@selection_options
@backend_options("Only cases that this backend declares to support.")
@click.option(
    "--capabilities",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Only cases that this JSON file declares: operators, dtypes, ranks, excluding.",
)
@check_option("level")
@click.option(
    "--out",
    required=True,
    type=TargetPath(new=True),
    metavar="DIR",
    help="A new folder.",
)
def export(
    layout: str,
    ops: tuple[str, ...],
    suite: str | None,
    only: tuple[str, ...],
    dtypes: tuple[str, ...],
    ranks: tuple[int, ...],
    backend: str | None,
    capabilities: Path | None,
    level: str,
    out: Path,
) -> None:
    """Write the inputs of vectors for a device this machine cannot reach."""
    from conformance.errors import UsageError
    from conformance.exchange import formats
    from conformance.exchange.export import export as write
    from conformance.exchange.export import prepare
    from conformance.exchange.export_index import DEVICE
    from conformance.run.engine import selected
    from conformance.suite.store import open_suite

    if backend is not None and capabilities is not None:
        raise UsageError(
            "--backend cannot be combined with --capabilities",
            hint="give one of them: each says what is supported",
        )
    formats.require_package(layout)
    opened = open_suite(suite)
    options = CheckOptions(ops=ops, only=only, dtypes=dtypes, ranks=ranks, level=level)
    declared = _declared(backend, capabilities)
    entries = selected(opened, options, declared).entries
    prepare(out, layout, declared)
    evaluate(opened, entries)
    total = len(entries)
    with Progress(total, "exporting") as progress:
        exported = write(
            opened,
            out,
            layout=layout,
            declared=declared,
            options=options,
            progress=lambda number: progress.at("", number),
        )
    for op, reason, count in exported.index.left_out:
        click.echo(f"not exported: {op}, {number_of(count, 'vector')}: {reason}")
    if exported.ended:
        click.echo(f"refused as models: {number_of(exported.ended, 'case')}; see ending.txt there")
    cases = len(exported.index.cases)
    click.echo(
        f"{number_of(cases, 'case')} in {out}; write outputs beside the inputs, and {out / DEVICE}:"
    )
    example = {"name": "my device", "version": "1.0", "nonce": exported.index.nonce}
    click.echo(f"  {json.dumps(example)}")


def _declared(backend: str | None, file: Path | None) -> Capabilities | None:
    from conformance.backends.capabilities import Capabilities
    from conformance.cli.partition_options import declared_capabilities
    from conformance.errors import UsageError

    if backend is not None:
        return declared_capabilities(backend)
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            return Capabilities.from_json(json.loads(opened.read(MAX_DECLARATION)))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{file}: {error}", hint='it looks like {"operators": ["AvgPool-1"], "dtypes": ["f32"]}'
        ) from error
