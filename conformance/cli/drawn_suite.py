"""``conformance generate --drawn``: a packed suite of drawn cases."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress
from conformance.cli.replace_suite import keep_another
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.cli.worker_options import WorkerOptions


def draw(
    ops: Sequence[str],
    out: Path,
    root: int,
    backend: str | None,
    count: int,
    worker_options: WorkerOptions,
    *,
    force: bool,
) -> None:
    """Write a drawn suite, or resume an interrupted run of the same command."""
    from conformance import __version__, codec
    from conformance.choices import SuiteName
    from conformance.cli.partition_options import supported_subsets_of
    from conformance.generate.drawn import draw_all, pieces
    from conformance.generate.versions import versions
    from conformance.specification import select_specs, shipped_specs
    from conformance.suite import strict_json
    from conformance.suite.manifest import Manifest
    from conformance.suite.origin import carried_origin, shipped_origin
    from conformance.suite.packing import Packer, write_packed_manifest
    from conformance.suite.store import open_suite
    from conformance.suite.unreachable import Unreachable
    from conformance.suite.writer import disk_errors, new_suite_folder

    specs = select_specs(ops)
    subsets = None if backend is None else supported_subsets_of(backend, specs).by_op
    specs = {op: spec for op, spec in specs.items() if subsets is None or op in subsets}
    keep_another(out, SuiteName.DRAWN, root, specs, force=force)
    shipped = shipped_specs()
    bases = [
        shipped_origin(spec) if spec is shipped.get(op) else carried_origin(spec)
        for op, spec in specs.items()
    ]
    manifest = Manifest(
        name=SuiteName.DRAWN,
        seed=root,
        versions={"zlib": zlib.ZLIB_RUNTIME_VERSION, **versions()},
        listed=(),
        strength=dict.fromkeys(specs, Unreachable()),
        specifications={basis.op: basis.origin for basis in bases},
    )
    plan = {
        "tool": __version__,
        "drawn": count,
        "seed": root,
        "for": repr(subsets),
        "versions": manifest.versions,
        "specifications": codec.to_json(dict(manifest.specifications)),
    }
    began = time.perf_counter()
    with new_suite_folder(out, bases, strict_json.dumps(plan)) as folder:
        work = [
            task
            for op, spec in specs.items()
            for task in pieces(
                spec, count, root=root, folder=folder, claim=subsets[op] if subsets else None
            )
        ]
        done = sum(task.there for task in work)
        if done:
            click.echo(f"resuming: {done} of {len(work)} containers are there", err=True)
        try:
            with (
                worker_options.working() as processes,
                Progress(1, "drawing") as progress,
                disk_errors(out),
            ):
                packer = Packer(folder, {})
                draw_all(work, packer, processes=processes, progress=progress.at)
                write_packed_manifest(folder, packer, manifest)
        except BaseException:
            click.echo("to resume: run the same command again", err=True)
            raise
    written = open_suite(out)
    for op, counts in written.manifest.counts.items():
        click.echo(f"  {op:20} {counts.value:5} value vectors, {counts.reject:3} negative tests")
    assert written.manifest.packed is not None
    size = sum(container.bytes for container in written.manifest.packed.containers)
    seconds = time.perf_counter() - began
    click.echo(
        f"{written.name}: {number_of(len(written), 'vector')}, {size / 1e6:.2f} MB, in {out}"
    )
    rate = len(written) / seconds
    click.echo(f"{seconds:.1f} s ({rate:.0f} vectors per second), sha256 {written.digest[:16]}")
