"""What makes a finding the same one in another run.

A fingerprint says what fails in which way, not how often: it stays the same when a suite grows, or
some of a finding's vectors are mended.
"""

from __future__ import annotations

import hashlib
import json
import re

from conformance.model import Finding


def fingerprint(finding: Finding) -> str:
    """A digest of all of a finding but its counts, its vectors, and numbers in its message."""
    title = re.sub(r"\d+( more)? of \d+ ", "", finding.title)
    # Findings with a witness, or of an accepted case, are told apart by their title.
    alike = finding.witness is not None or finding.kind == "accepted"
    message = re.sub(r"0x[0-9a-fA-F]+|\d+(?:[\s,.x]+\d+)*", "#", finding.message)
    return digest(finding.op, finding.kind, title, "" if alike else message)


def digest(*parts: str) -> str:
    """SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
