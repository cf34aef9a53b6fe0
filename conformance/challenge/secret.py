"""The secret of a challenge: first its commitment is published, later it gives the seed.

The commitment is published before the backend is handed in, so whoever drew the secret cannot
change it afterwards. The seed also depends on the backend, so whoever made that could not know it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from conformance.errors import UsageError
from conformance.suite import strict_json
from conformance.suite.strict_json import SHA256, JsonObject

FORMAT = 1
SIZE = 32
"""Bytes of a secret."""

SEED = 8
"""Bytes of a seed: selections and manifests hold it as an integer."""

MAX_FILE = 4096

_COMMITMENT = b"opconform challenge 1 commitment\n"
_SEED = b"opconform challenge 1 seed\n"
_KEYS = ("format", "secret")


@dataclass(frozen=True)
class Secret:
    """The random bytes of one challenge; ``repr`` does not show them."""

    data: bytes = field(repr=False)

    @classmethod
    def draw(cls) -> Secret:
        """Draw a secret from the system's source of random bytes."""
        return cls(secrets.token_bytes(SIZE))

    @property
    def commitment(self) -> str:
        """The published SHA-256 of a tag and the secret, in hexadecimal."""
        return hashlib.sha256(_COMMITMENT + self.data).hexdigest()

    def seed(self, digest: str) -> int:
        """Return the seed for a backend of this digest.

        It is the first 8 bytes, big-endian, of SHA-256 of a tag, the secret and the 32 bytes of the
        digest (:func:`conformance.backends.components.composition_digest`).
        """
        sha256 = hashlib.sha256(_SEED + self.data + bytes.fromhex(digest)).digest()
        return int.from_bytes(sha256[:SEED], "big")


def write_secret(secret: Secret, file: Path) -> None:
    """Write a secret to a new file that only its owner may read.

    Raises:
        UsageError: the file exists, or cannot be written.
    """
    text = strict_json.dumps({"format": FORMAT, "secret": secret.data.hex()})
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError as error:
        raise UsageError(
            f"{file} exists, and a secret may be the only one of its commitment",
            hint="name another file, or remove this one",
        ) from error
    except OSError as error:
        raise UsageError(
            f"{file}: the secret cannot be written: {error.strerror or error}",
            hint="name a file in a folder that you may write to",
        ) from error


def read_secret(file: Path) -> Secret:
    """Read a secret from a file.

    Raises:
        UsageError: the file cannot be read.
        SuiteError: it holds no secret.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(
            f"{file}: the secret cannot be read: {error.strerror or error}",
            hint="conformance challenge new --out FILE draws one",
        ) from error
    record = JsonObject(strict_json.loads(data[: MAX_FILE + 1], str(file)), str(file), _KEYS)
    if len(data) > MAX_FILE or record.whole("format") != FORMAT:
        record.refuse("is no secret that this version reads")
    return Secret(bytes.fromhex(hexadecimal(record, "secret")))


def hexadecimal(record: JsonObject, key: str) -> str:
    """Return a text of 64 hexadecimal digits.

    Raises:
        SuiteError: the text is another one.
    """
    text = record.text(key)
    if not SHA256.fullmatch(text):
        record.refuse(f"{key!r} is not 64 hexadecimal digits")
    return text
