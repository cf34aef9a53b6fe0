"""The address of a cluster: ``local:N``, or that of a scheduler, if it is safe to use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from conformance.errors import UsageError

MAX_WORKERS = 64
"""Processes of a local cluster."""

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
_FORMS = "give local:N, tls://HOST:PORT or tcp://127.0.0.1:PORT"


@dataclass(frozen=True)
class ClusterAddress:
    """A cluster of ``count`` new processes on this machine, or the scheduler at an ``address``."""

    count: int = 0
    address: str = ""

    @property
    def encrypted(self) -> bool:
        return self.address.startswith("tls://")


def parse_cluster_address(text: str, *, insecure: bool = False) -> ClusterAddress:
    """Parse the text of ``--cluster``.

    Raises:
        UsageError: it names no cluster, or one that others could read or control.
    """
    if match := _LOCAL.fullmatch(text):
        if (count := int(match[1])) > MAX_WORKERS:
            raise UsageError(f"{text}: at most {MAX_WORKERS} workers", hint=_FORMS)
        return ClusterAddress(count=count)
    try:
        parts = urlsplit(text)
        is_complete = parts.hostname and parts.port and text == f"{parts.scheme}://{parts.netloc}"
    except ValueError:  # a port that is no number, half an IPv6 address
        is_complete = None
    if not is_complete or parts.scheme not in ("tcp", "tls") or not text.isprintable():
        raise UsageError(f"{text[:200]!a} is not a cluster address", hint=_FORMS)
    check_safe(text, insecure=insecure)
    return ClusterAddress(address=text)


def check_safe(address: str, *, insecure: bool) -> None:
    """Check that an address is encrypted or on this machine.

    Whoever can reach a plain one can run programs on all machines of the cluster, this one too.

    Raises:
        UsageError: it is neither.
    """
    if insecure or address.startswith("tls://") or _is_local(urlsplit(address).hostname):
        return
    raise UsageError(
        f"{address}: anyone on this network could run programs here and on each worker",
        hint="use tls://, or tcp:// on the loopback; --insecure allows it on a network of your own",
    )


def _is_local(host: str | None) -> bool:
    """Return whether only this machine can reach a host.

    Names are not looked up: they may change.
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
