"""Compares the headers of two runs: may one resume the other, or be merged with it?

Only with the same suite, backend, options and environment.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from conformance.errors import LogError
from conformance.log.encoding import decode, encode
from conformance.log.run_log import RunLog
from conformance.safe_text import number_of
from conformance.threads import shares

SECTIONS = ("tool", "suite", "backend", "options", "environment")
"""The members of a header that say what is tested. The others say when."""

_SHOWN = 60


def differences(
    one: Mapping[str, Any], other: Mapping[str, Any], *, apart_from: Collection[str] = ()
) -> Iterator[str]:
    """Where two headers differ, each as ``backend.version: '1.0', not '1.1'``.

    ``apart_from`` names what may differ: sections, or members with their section. What only one
    of them has counts as null in the other. In how many processes a backend ran, and what follows
    from that, is no difference: no verdict may depend on it.
    """
    # As a log holds it: bounded texts, lists for tuples.
    one, other = (_apart_from_jobs(decode(encode(header).encode())) for header in (one, other))
    for section in SECTIONS:
        yield from _apart(section, one.get(section), other.get(section), apart_from)


def _apart_from_jobs(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header without the number of processes, and the threads that each was given for it."""
    options, environment = header["options"], header["environment"]
    jobs, cores = options.get("jobs"), environment.get("cores")
    variables = environment.get("variables")
    if isinstance(variables, Mapping) and type(jobs) is int and jobs > 0:
        usable = cores.get("usable") if isinstance(cores, Mapping) else None
        given = shares(jobs, usable if type(usable) is int else 1, ())
        own = {name: value for name, value in variables.items() if given.get(name) != value}
        environment = {**environment, "variables": own}
    options = {name: value for name, value in options.items() if name != "jobs"}
    return {**header, "options": options, "environment": environment}


def _apart(name: str, one: Any, other: Any, apart_from: Collection[str]) -> Iterator[str]:
    """The innermost members that differ, by their path."""
    if name in apart_from or one == other:
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _apart(f"{name}.{key}", one.get(key), other.get(key), apart_from)
    else:
        yield f"{_plain(name)}: {_shown(one)}, not {_shown(other)}"


def _plain(name: str) -> str:
    """A path with keys that a file chose, for a terminal."""
    return name[:_SHOWN].encode("unicode_escape").decode()


def _shown(value: Any) -> str:
    text = json.dumps(value)  # ASCII, so that what a file holds cannot reach a terminal
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


MOST_NAMED = 5


def check_continues(
    earlier: RunLog, header: Mapping[str, Any], asked: Collection[tuple[str, str]]
) -> None:
    """Raise :class:`LogError` unless a run with this header may go on where ``earlier`` ended.

    ``asked`` are the vectors that the run asks, by operator and id. Everything that a result may
    depend on has to be the same: tool, suite, backend, options and environment.
    """
    found = list(differences(earlier.header, header))
    if found:
        named = "".join(f"\n  {line}" for line in found[:MOST_NAMED])
        more = len(found) - MOST_NAMED
        rest = f"\n  and {more} more" if more > 0 else ""
        raise LogError(
            f"the run log is from a different run; it has{named}{rest}",
            hint="repeat the command that began the run, or leave --resume out to start a new run",
        )
    foreign = [result.id for result in earlier.results if (result.op, result.id) not in asked]
    if foreign:
        raise LogError(
            f"the run log has {number_of(len(foreign), 'result')} of vectors that are not in the "
            f"run, {foreign[0][:80]!a} first",
            hint="the log is damaged; leave --resume out to start a new run",
        )
