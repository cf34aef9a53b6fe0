"""Tasks on the workers of a Dask cluster.

Dask sends functions and results as pickles, so whoever can connect to its scheduler can run
programs on every machine that takes part. That is why :mod:`conformance.cluster.address` accepts
the loopback and TLS alone.
"""

from __future__ import annotations

import logging
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from conformance import parallel
from conformance.cluster.address import ClusterAddress, check_safe, parse_cluster_address
from conformance.cluster.fingerprint import fingerprint, fingerprint_differences
from conformance.errors import UsageError, missing_extra

if TYPE_CHECKING:
    from distributed import Client, Future

Result = TypeVar("Result", covariant=True)

CONNECT_SECONDS = 20
"""Seconds in which a scheduler has to respond, and its first worker to appear."""

CHECK_SECONDS = 2.0
"""Seconds between two checks for workers."""

MAX_SECONDS_ALONE = 60.0
"""Seconds without a worker after which no more are expected."""

MAX_LOST_WORKERS = 1
"""Workers that a task may lose before it is given up."""


class Cluster:
    """The workers of a cluster; see :class:`conformance.parallel.Workers`."""

    def __init__(self, client: Client, count: int) -> None:
        self._client = client
        self.count = count

    def run(
        self,
        work: Iterable[parallel.Task[Result]],
        *,
        progress: parallel.Progress,
        total: int,
        ahead: int | None = None,
    ) -> Generator[Result, None, None]:
        """Run tasks as :func:`conformance.parallel.run` does; lost ones are repeated once.

        Raises:
            UsageError: the second worker of a task is lost too, no worker is left, or one that
                joined has other versions.
        """
        name, expected, begun = f"piece-{uuid.uuid4().hex}", fingerprint(), 0
        futures: set[Future[Any]] = set()

        def begin(task: parallel.Task[Result], label: str) -> Callable[[], Result]:
            nonlocal begun
            begun += 1
            # Dask would take two tasks that look alike for one.
            key = f"{name}-{begun}"
            with _explained(label):
                future = self._client.submit(
                    _run_task, task, expected, key=key, pure=False, retries=0
                )
            futures.add(future)

            def end() -> Result:
                futures.discard(future)
                with _explained(label):
                    return self._wait(future)

            return end

        try:
            yield from parallel.in_order(work, begin, progress=progress, total=total, ahead=ahead)
        except BaseException:
            with _explained("what is left"):
                self._client.cancel(list(futures), force=True)
            raise

    def _wait(self, future: Future[Any]) -> Any:
        """Wait for the result of a task, while workers exist."""
        from distributed import wait

        since = time.monotonic()
        while not future.done():
            try:
                wait(future, timeout=CHECK_SECONDS)
                break
            except TimeoutError:
                if _workers(self._client):
                    since = time.monotonic()
                elif time.monotonic() - since > MAX_SECONDS_ALONE:
                    raise UsageError(
                        f"the cluster has had no worker for {MAX_SECONDS_ALONE:.0f} seconds",
                        hint="start workers and run the same command again",
                    ) from None
        return future.result()


@contextmanager
def connected(text: str, *, insecure: bool = False) -> Iterator[Cluster]:
    """Connect to the cluster of ``--cluster``, whose workers compute as this process does.

    Those of ``local:N`` end with the block.

    Raises:
        UsageError: the package ``distributed`` is missing, the cluster is unsafe or cannot be
            reached, or its workers differ.
    """
    address = parse_cluster_address(text, insecure=insecure)
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise missing_extra("--cluster needs the package distributed", "dask") from error
    with ExitStack() as stack:
        client = stack.enter_context(_local(address.count) if address.count else _remote(address))
        if not address.count:
            _check_reach(client, insecure)
        _check_versions(client)
        yield Cluster(client, len(_workers(client)))


def _run_task(task: parallel.Task[Result], expected: Mapping[str, str]) -> Result:
    """Run a task in a worker, which may have joined after the others were checked."""
    if differing := fingerprint_differences(expected, fingerprint()):
        raise UsageError(f"a worker computes otherwise: {'; '.join(differing)}", hint=_SAME)
    parallel.seldom_collect()
    # Dask's own thread draws random numbers, which Hypothesis takes for a mistake of ours.
    for message in ("Do not use the `random` module", "Generating overly large repr"):
        warnings.filterwarnings("ignore", message=message)
    return task.run()


@contextmanager
def _local(count: int) -> Iterator[Client]:
    """Yield a client of new workers on this machine."""
    import dask
    from distributed import Client, LocalCluster

    # A lost worker is told where it costs something; all else would be lines between our own.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {"distributed.scheduler.allowed-failures": MAX_LOST_WORKERS}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
            preload=["conformance.cluster.preload"],
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count, timeout=60)
        yield client


@contextmanager
def _remote(address: ClusterAddress) -> Iterator[Client]:
    """Yield a client of the scheduler at an address, with Dask's configured certificates."""
    from distributed import Client
    from distributed.security import Security

    security = Security(require_encryption=True) if address.encrypted else None
    if security is not None and not security.get_connection_args("client").get("ssl_context"):
        raise UsageError(
            f"{address.address}: Dask has no certificates",
            hint="set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on; see docs/cluster.md",
        )
    try:
        client = Client(address.address, security=security, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"{address.address}: no scheduler answers: {error}",
            hint="start one with `dask scheduler`; see docs/cluster.md",
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"{address.address}: the cluster has no workers",
                hint="start some with `dask worker`; see docs/cluster.md",
            ) from None
        yield client


def _check_reach(client: Client, insecure: bool) -> None:
    """Refuse a cluster that others can reach, and workers of several threads."""
    info = client.scheduler_info(n_workers=-1)
    for address, worker in [(info["address"], None), *info["workers"].items()]:
        check_safe(str(address), insecure=insecure)
        if worker is not None and worker["nthreads"] != 1:
            raise UsageError(
                f"the worker {address} has {worker['nthreads']} threads",
                hint="start one worker for each core: dask worker --nworkers N --nthreads 1",
            )


def _check_versions(client: Client) -> None:
    """Refuse a cluster whose workers or scheduler would compute or read something else."""
    expected = fingerprint()
    try:
        fingerprints = dict(client.run(fingerprint, on_error="return"))
        fingerprints["scheduler"] = client.run_on_scheduler(fingerprint)
    except Exception as error:  # whatever its Python raises that cannot load this package
        raise UsageError(f"the cluster cannot load this package: {error}", hint=_SAME) from error
    wrong = []
    for name, process_fingerprint in fingerprints.items():
        if isinstance(process_fingerprint, BaseException):
            wrong.append(f"{name}: cannot load this package: {process_fingerprint}")
        elif differing := fingerprint_differences(expected, process_fingerprint):
            wrong.append(f"{name}: {'; '.join(differing)}")
    if wrong:
        more = f"\nand {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise UsageError(
            "the cluster computes otherwise than this process\n" + "\n".join(wrong[:3]) + more,
            hint=_SAME,
        )


_SAME = "install the same versions everywhere, and start scheduler and workers again"


def _workers(client: Client) -> Mapping[str, Any]:
    return client.scheduler_info(n_workers=-1)["workers"]


@contextmanager
def _explained(label: str) -> Iterator[None]:
    """Turn what Dask raises into an error that names the lost task."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise UsageError(
            f"{label}: the worker was lost, and the one that tried again too",
            hint="it may have run out of memory; ask for fewer workers, or look at their logs",
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise UsageError(
            f"{label}: the scheduler was lost", hint="start it, and run the same command again"
        ) from error
