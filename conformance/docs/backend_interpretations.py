"""Which interpretation each backend follows, from run logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.log.run_log import RunLog
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Reply:
    """One answer that vectors of a run show; ``example`` is the smallest of them."""

    answer: str
    adopted: bool
    vectors: int
    example: str


@dataclass(frozen=True)
class Follower:
    """A backend and its answers to one question; none where no vector that it answered asks it."""

    backend: str
    version: str
    replies: tuple[Reply, ...]


def followers(spec: OpSpec, runs: Iterable[RunLog]) -> Mapping[str, tuple[Follower, ...]]:
    """The answers of each run to each open question of ``spec``, by the question's name.

    Runs that did not ask the operator are left out, and so are questions of the logs that the
    specification does not have.
    """
    found: dict[str, list[Follower]] = {one.name: [] for one in spec.interpretations}
    found |= {point.name: [] for point in spec.observe}
    for run in runs:
        backend = run.header["backend"]
        for reading in run.readings:
            if reading["op"] == spec.op and reading["point"] in found:
                replies = tuple(
                    Reply(one["answer"], one["adopted"], one["vectors"], one["example"])
                    for one in reading["answers"]
                )
                follower = Follower(backend["name"], backend["version"], replies)
                found[reading["point"]].append(follower)
    return {name: tuple(answers) for name, answers in found.items()}
