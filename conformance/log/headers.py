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
    first: Mapping[str, Any], second: Mapping[str, Any], *, apart_from: Collection[str] = ()
) -> Iterator[str]:
    """Yield where two headers differ, each as ``backend.version: '1.0', not '1.1'``.

    ``apart_from`` names what may differ: sections, or members with their section. What only one
    of them has counts as null in the other. In how many processes a backend ran, and what follows
    from that, is no difference: no verdict may depend on it.
    """
    # As a log holds it: bounded texts, lists for tuples.
    first, second = (_apart_from_jobs(decode(encode(h).encode())) for h in (first, second))
    for section in SECTIONS:
        yield from _apart(section, first.get(section), second.get(section), apart_from)


def _apart_from_jobs(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header without the number of processes, and their shares of threads."""
    options, environment = header["options"], header["environment"]
    jobs, cores = options.get("jobs"), environment.get("cores")
    variables = environment.get("variables")
    if isinstance(variables, Mapping) and type(jobs) is int and jobs > 0:
        usable = cores.get("usable") if isinstance(cores, Mapping) else None
        given = shares(jobs, usable if type(usable) is int else 1, ())
        others = {name: value for name, value in variables.items() if given.get(name) != value}
        environment = {**environment, "variables": others}
    options = {name: value for name, value in options.items() if name != "jobs"}
    return {**header, "options": options, "environment": environment}


def _apart(name: str, first: Any, second: Any, apart_from: Collection[str]) -> Iterator[str]:
    """Yield the innermost members that differ, by their path."""
    if name in apart_from or first == second:
        return
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in {**first, **second}:
            yield from _apart(f"{name}.{key}", first.get(key), second.get(key), apart_from)
    else:
        yield f"{_plain(name)}: {_shown(first)}, not {_shown(second)}"


def _plain(name: str) -> str:
    """Return a path with keys that a file chose, for a terminal."""
    return name[:_SHOWN].encode("unicode_escape").decode()


def _shown(value: Any) -> str:
    text = json.dumps(value)  # ASCII, so that what a file holds cannot reach a terminal
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


MOST_NAMED = 5


def check_continues(
    earlier: RunLog, header: Mapping[str, Any], selected: Collection[tuple[str, str]]
) -> None:
    """Raise :class:`LogError` unless a run with this header may resume ``earlier``.

    ``selected`` are the vectors of the run, by operator and id. Everything that a result may
    depend on has to be the same: tool, suite, backend, options and environment.
    """
    lines = list(differences(earlier.header, header))
    if lines:
        named = "".join(f"\n  {line}" for line in lines[:MOST_NAMED])
        more = len(lines) - MOST_NAMED
        rest = f"\n  and {more} more" if more > 0 else ""
        raise LogError(
            f"the run log is from a different run; it has{named}{rest}",
            hint="repeat the command that began the run, or leave --resume out to start a new run",
        )
    foreign = [result.id for result in earlier.results if (result.op, result.id) not in selected]
    if foreign:
        raise LogError(
            f"the run log has {number_of(len(foreign), 'result')} of vectors that are not in the "
            f"run, {foreign[0][:80]!a} first",
            hint="the log is damaged; leave --resume out to start a new run",
        )
