"""``conformance probe``: infers how a backend sums, divides and rounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.options import (
    backend_options,
    call_options,
    dtypes_option,
    env_option,
    ops_option,
)
from conformance.errors import EXIT_NOT_CONFORMANT, EXIT_OK, UsageError

if TYPE_CHECKING:
    from conformance.run.executor import Executor

TIMEOUT = 30.0

EXAMPLES = """
\b
Examples:
  conformance probe --backend mylib.py:MyLib
      the newest version of each mean and maximum that it declares
  conformance probe --backend torch --op 'torch.*' --dtypes f32
      some operators, in one element type
  conformance probe --backend openvino --op AvgPool-16 --sizes 2,9,64
      only windows of these numbers of elements
  conformance probe --compare old/probe.json new/probe.json
      what differs between two versions of a backend
\b
For each operator, element type and window size, inputs are asked on which
listed models of a mean give different bits: in what type sums are kept, in
which order and how many lanes, how they are divided. Others show what
becomes of NaN, zeros and subnormal numbers, how whole numbers are rounded,
and whether results repeat: in the same process, in another, and with other
numbers of threads. The --out folder has a page and probe.json with all
inputs and results. A model that fits is no proof that the backend computes
so.
\b
Exit codes: 0 probed, or nothing differs; 1 no call gave results, or the two
probes differ; 2 wrong usage; 3 a defect in this tool; 130 interrupted (143 by
SIGTERM).
"""


@click.command(epilog=EXAMPLES)
@backend_options("The backend, as check takes it.")
@env_option
@ops_option
@dtypes_option
@click.option(
    "--sizes",
    metavar="N,..",
    help="Only windows of these numbers of elements [default: 2 to 4096].",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Design the inputs with this seed. Probes of one seed have the same inputs.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write page and probe.json into this folder [default: reports/probe-NAME].",
)
@call_options(TIMEOUT, "at most")
@click.option(
    "--compare",
    "pair",
    nargs=2,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OLD NEW",
    help="Compare two probe.json files without running a backend.",
)
@click.pass_context
def probe(
    ctx: click.Context,
    backend: str | None,
    env: str | None,
    ops: tuple[str, ...],
    dtypes: tuple[str, ...],
    sizes: str | None,
    seed: int,
    out: Path | None,
    timeout: float,
    memory: str | None,
    pair: tuple[Path, Path] | None,
) -> None:
    """Infer how a backend sums, divides and rounds."""
    if pair is not None:
        if backend is not None:
            raise UsageError("--compare cannot be combined with --backend", hint="leave one out")
        ctx.exit(_compare(*pair))
    if backend is None:
        raise UsageError(
            "no backend is named", hint="add --backend NAME, or --compare OLD NEW for two probes"
        )
    from conformance.cli.progress import Progress
    from conformance.cli.text import slug
    from conformance.probe import page, record
    from conformance.probe.session import ProbeRequest
    from conformance.probe.session import probe as run_probe
    from conformance.report.registry import write_text
    from conformance.run.executor_options import Isolation
    from conformance.run.partition_filter import PartitionFilter
    from conformance.specification import select_specs

    out = Path("reports") / f"probe-{slug(backend)}" if out is None else out
    request = ProbeRequest(PartitionFilter.of(dtypes).dtypes, _sizes(sizes), seed, newest=not ops)

    def executor(variables: Mapping[str, str]) -> Executor:
        isolation = Isolation("process", None, timeout, memory, env, variables=variables)
        return isolation.executor_for(backend)

    specs = select_specs(ops)
    with Progress(1, "probing") as progress:
        result = run_probe(executor, specs, request, progress=progress.at)
    document = record.probe_document(result, backend)
    record.check_probe(document, str(out / record.FILE))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{out}: cannot be made: {error.strerror}", hint="name another folder: --out DIR"
        ) from error
    hint = "name another folder: --out DIR"
    write_text(out / record.FILE, record.encode_probe(document).decode(), hint=hint)
    write_text(out / page.FILE, page.render(document), hint=hint)
    _print_probe(document)
    click.echo(f"page: {out / page.FILE}", err=True)
    if not result.statements:  # each call failed, so nothing was shown
        ctx.exit(EXIT_NOT_CONFORMANT)


def _sizes(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    try:
        sizes = tuple(sorted({int(number) for number in text.split(",")}))
    except ValueError:
        sizes = ()
    if not sizes or sizes[0] < 2 or sizes[-1] > MAX_SIZE:
        raise UsageError(
            f"--sizes {text[:80]!r}: not sizes of windows",
            hint=f"give numbers of elements from 2 to {MAX_SIZE}, as in --sizes 2,9,64",
        )
    return sizes


MAX_SIZE = 1 << 14
"""Elements of a window."""


def _print_probe(document: Mapping[str, Any]) -> None:
    from conformance.probe.wording import probe_lines
    from conformance.safe_text import one_line

    for line in probe_lines(document):
        click.echo(one_line(line))


def _compare(old: Path, new: Path) -> int:
    from conformance.probe.comparison import compare_probes, comparison_text
    from conformance.probe.record import read_probe
    from conformance.safe_text import one_line

    probes = read_probe(old), read_probe(new)
    compared = compare_probes(*probes)
    for line in comparison_text(*probes, compared):
        click.echo(one_line(line))
    return EXIT_OK if compared.alike else EXIT_NOT_CONFORMANT
