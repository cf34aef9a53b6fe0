"""What a worker on this machine loads first."""

from __future__ import annotations

import signal


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the command: it ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
