"""Results of a run one by one, for tests that have seen enough before all is said and diagnosed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from conformance.backends.protocol import as_backend
from conformance.check_options import CheckOptions
from conformance.model import Result
from conformance.run.engine import run
from conformance.suite.store import Suite


def verdicts(suite: Suite, backend: Callable[..., Any], **options: Any) -> Iterator[Result]:
    """What each vector says of a backend, as it is asked; ``options`` as in ``CheckOptions``.

    Nothing is asked after the last result that is taken, and there are no findings.
    """
    with closing(run(suite, as_backend(backend), CheckOptions(**options))) as events:
        next(events)  # the header
        for event in events:
            if not isinstance(event, Result):
                return
            yield event
