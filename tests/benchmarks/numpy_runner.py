"""The backend numpy as a program: what `exec:` costs beside the same backend in a worker."""

from __future__ import annotations

import os
import sys

from conformance.backends.numpy import NumPy
from conformance.run import framing, messages
from conformance.run.executor import identity_of
from conformance.run.inline import call

READ = 1 << 20


def main() -> None:
    """Answer requests until there are no more."""
    backend, inbox = NumPy(), framing.Inbox()
    send(messages.encode_hello(identity_of(backend)))
    while data := os.read(0, READ):
        inbox.feed(data)
        while message := inbox.take(sys.maxsize):
            header, payload = message
            inputs = messages.decode_request(header, payload)
            outcome = call(backend, header["op"], inputs, header["attributes"])
            send(messages.encode_response(header["number"], outcome, header["limit"]))


def send(message: bytes) -> None:
    """Write all of a message."""
    view = memoryview(message)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
