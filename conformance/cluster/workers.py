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
from conformance.cluster.address import ClusterAddress, check_safe, parse
from conformance.cluster.fingerprint import differences, fingerprint
from conformance.errors import UsageError, missing_extra

if TYPE_CHECKING:
    from distributed import Client, Future

Result = TypeVar("Result", covariant=True)

CONNECTING = 20
"""Seconds in which a scheduler has to answer, and its first worker to be there."""

LOOK = 2.0
"""Seconds between two looks at whether anybody is working."""

ALONE = 60.0
"""Seconds without a worker after which none is expected any more."""

LOST = 1
"""Workers that a piece may lose before it is given up."""


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
        """As :func:`conformance.parallel.run`; a task whose worker is lost is done once more.

        Raises UsageError where that worker is lost too, where no worker is left, and where one
        joined that has other versions.
        """
        name, expected, begun = f"piece-{uuid.uuid4().hex}", fingerprint(), 0
        futures: set[Future[Any]] = set()

        def begin(task: parallel.Task[Result], words: str) -> Callable[[], Result]:
            nonlocal begun
            begun += 1
            # Dask would take two tasks that look alike for one.
            key = f"{name}-{begun}"
            with _told(words):
                future = self._client.submit(_do, task, expected, key=key, pure=False, retries=0)
            futures.add(future)

            def end() -> Result:
                futures.discard(future)
                with _told(words):
                    return self._wait(future)

            return end

        try:
            yield from parallel.in_order(work, begin, progress=progress, total=total, ahead=ahead)
        except BaseException:
            with _told("what is left"):
                self._client.cancel(list(futures), force=True)
            raise

    def _wait(self, future: Future[Any]) -> Any:
        """The result of a task, as long as there is somebody to do it."""
        from distributed import wait

        since = time.monotonic()
        while not future.done():
            try:
                wait(future, timeout=LOOK)
                break
            except TimeoutError:
                if _workers(self._client):
                    since = time.monotonic()
                elif time.monotonic() - since > ALONE:
                    raise UsageError(
                        f"the cluster has had no worker for {ALONE:.0f} seconds",
                        hint="start workers and run the same command again",
                    ) from None
        return future.result()


@contextmanager
def connected(text: str, *, insecure: bool = False) -> Iterator[Cluster]:
    """The cluster that ``--cluster`` names, with workers that compute as this process does.

    Those of ``local:N`` end with the block. Raises UsageError where the package ``distributed`` is
    missing, for a cluster that is not safe or not there, and for workers that differ.
    """
    place = parse(text, insecure=insecure)
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise missing_extra("--cluster needs the package distributed", "dask") from error
    with ExitStack() as stack:
        client = stack.enter_context(_local(place.count) if place.count else _remote(place))
        if not place.count:
            _check_reach(client, insecure)
        _check_versions(client)
        yield Cluster(client, len(_workers(client)))


def _do(task: parallel.Task[Result], expected: Mapping[str, str]) -> Result:
    """One task, in a worker, which may have joined later than others were looked at."""
    if differing := differences(expected, fingerprint()):
        raise UsageError(f"a worker computes otherwise: {'; '.join(differing)}", hint=_SAME)
    parallel.seldom_collect()
    # Dask's own thread draws random numbers, which Hypothesis takes for a mistake of ours.
    for message in ("Do not use the `random` module", "Generating overly large repr"):
        warnings.filterwarnings("ignore", message=message)
    return task.run()


@contextmanager
def _local(count: int) -> Iterator[Client]:
    """A client of new workers on this machine."""
    import dask
    from distributed import Client, LocalCluster

    # A lost worker is told where it costs something; all else would be lines between our own.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {"distributed.scheduler.allowed-failures": LOST}
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
def _remote(place: ClusterAddress) -> Iterator[Client]:
    """A client of the scheduler at an address. Certificates are those of Dask's configuration."""
    from distributed import Client
    from distributed.security import Security

    security = Security(require_encryption=True) if place.encrypted else None
    if security is not None and not security.get_connection_args("client").get("ssl_context"):
        raise UsageError(
            f"{place.address}: Dask has no certificates",
            hint="set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on; see docs/cluster.md",
        )
    try:
        client = Client(place.address, security=security, timeout=CONNECTING)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"{place.address}: no scheduler answers: {error}",
            hint="start one with `dask scheduler`; see docs/cluster.md",
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECTING)
        except TimeoutError:
            raise UsageError(
                f"{place.address}: the cluster has no workers",
                hint="start some with `dask worker`; see docs/cluster.md",
            ) from None
        yield client


def _check_reach(client: Client, insecure: bool) -> None:
    """Refuses a cluster that listens where others can reach it, and workers of several threads."""
    info = client.scheduler_info(n_workers=-1)
    for address, worker in [(info["address"], None), *info["workers"].items()]:
        check_safe(str(address), insecure=insecure)
        if worker is not None and worker["nthreads"] != 1:
            raise UsageError(
                f"the worker {address} has {worker['nthreads']} threads",
                hint="start one worker for each core: dask worker --nworkers N --nthreads 1",
            )


def _check_versions(client: Client) -> None:
    """Refuses a cluster whose workers, or scheduler, would compute or read something else."""
    expected = fingerprint()
    try:
        found = dict(client.run(fingerprint, on_error="return"))
        found["scheduler"] = client.run_on_scheduler(fingerprint)
    except Exception as error:  # whatever its Python raises that cannot load this package
        raise UsageError(f"the cluster cannot load this package: {error}", hint=_SAME) from error
    wrong = []
    for name, one in found.items():
        if isinstance(one, BaseException):
            wrong.append(f"{name}: cannot load this package: {one}")
        elif differing := differences(expected, one):
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
def _told(words: str) -> Iterator[None]:
    """What Dask raises, as an error that says which piece it cost."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise UsageError(
            f"{words}: the worker was lost, and the one that tried again too",
            hint="it may have run out of memory; ask for fewer workers, or look at their logs",
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise UsageError(
            f"{words}: the scheduler was lost", hint="start it, and run the same command again"
        ) from error
