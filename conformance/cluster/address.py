"""Where a cluster is: ``local:N``, or the address of a scheduler, if it is safe to use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from conformance.errors import UsageError

MOST = 64
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


def parse(text: str, *, insecure: bool = False) -> ClusterAddress:
    """The place that the text of ``--cluster`` names.

    Raises UsageError for text that names none, and for one that others could read or control.
    """
    if match := _LOCAL.fullmatch(text):
        if (count := int(match[1])) > MOST:
            raise UsageError(f"{text}: at most {MOST} workers", hint=_FORMS)
        return ClusterAddress(count=count)
    try:
        parts = urlsplit(text)
        whole = parts.hostname and parts.port and text == f"{parts.scheme}://{parts.netloc}"
    except ValueError:  # a port that is no number, half an IPv6 address
        whole = None
    if not whole or parts.scheme not in ("tcp", "tls") or not text.isprintable():
        raise UsageError(f"{text[:200]!a} is not a cluster address", hint=_FORMS)
    check_safe(text, insecure=insecure)
    return ClusterAddress(address=text)


def check_safe(address: str, *, insecure: bool) -> None:
    """Raises UsageError for an address that is neither encrypted nor on this machine.

    Whoever can reach a plain one can run programs on all machines of the cluster, this one too.
    """
    if insecure or address.startswith("tls://") or _here(urlsplit(address).hostname):
        return
    raise UsageError(
        f"{address}: anyone on this network could run programs here and on each worker",
        hint="use tls://, or tcp:// on the loopback; --insecure allows it on a network of your own",
    )


def _here(host: str | None) -> bool:
    """Whether only this machine can reach a host. Names are not looked up: they may change."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
