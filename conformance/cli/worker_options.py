"""Options for the workers of a command: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

from conformance import parallel
from conformance.errors import UsageError


@dataclass(frozen=True)
class WorkerOptions:
    """The options ``-j``, ``--cluster`` and ``--insecure``.

    Raises UsageError for options that exclude each other, and for a malformed cluster address.
    """

    processes: int
    cluster: str | None
    insecure: bool

    def __post_init__(self) -> None:
        if self.cluster is None:
            if self.insecure:
                raise UsageError("--insecure needs --cluster", hint="add --cluster PLACE")
            return
        from conformance.cluster.address import parse_cluster_address

        if self.processes != 1:
            raise UsageError(
                "--cluster cannot be combined with -j",
                hint="leave -j out: the cluster has its own workers, and local:N starts N",
            )
        parse_cluster_address(self.cluster, insecure=self.insecure)

    @contextmanager
    def working(self) -> Iterator[int | parallel.Workers]:
        """Start the workers, which end with the block; an integer is a number of processes."""
        if self.cluster is None:
            yield self.processes
            return
        from conformance.cluster.workers import connected

        with connected(self.cluster, insecure=self.insecure) as workers:
            count = f"{workers.count} worker" + ("s" if workers.count != 1 else "")
            click.echo(f"cluster: {count}", err=True)
            yield workers
