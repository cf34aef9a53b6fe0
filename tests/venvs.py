"""Virtual environments that are quick to make: numpy and ml_dtypes are lent, or what is named."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path

import conformance

LENT = ("numpy", "ml_dtypes")
LIBRARY = "__version__ = {version!r}\n\n\ndef answer(outputs):\n    return {returned}\n"
ADAPTER = """
import tinylib
from conformance import Unsupported
from conformance.backends.numpy import NumPy


class Tiny(NumPy):
    name, version = "tiny", tinylib.__version__
    capabilities = None

    def run(self, op, inputs, attributes):
        if op == "AdaptiveMaxPool-8":
            raise Unsupported("no maximum")
        return tinylib.answer(super().run(op, inputs, attributes))
"""


def make(
    folder: Path, *, version: str = "", returned: str = "outputs", lent: Sequence[str] = LENT
) -> Path:
    """A virtual environment; with a ``version`` it has a library ``tinylib`` of that version.

    ``returned`` is what the library makes of the right ``outputs``.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in lent:
        for place in _places(name):
            (packages / place.name).symlink_to(place)
    if version:
        (packages / "tinylib.py").write_text(LIBRARY.format(version=version, returned=returned))
    return folder


def _places(name: str) -> list[Path]:
    """What a package consists of: this one may be installed as a link, which lists no files."""
    if name == "conformance":
        return [Path(conformance.__file__).parent]
    files = distribution(name).files or ()
    top = {file.parts[0] for file in files if ".." not in file.parts} - {"__pycache__"}
    return [Path(str(distribution(name).locate_file(part))) for part in top]


def adapter(folder: Path) -> str:
    """A backend of ``tinylib``, in a file."""
    file = folder / "tiny_backend.py"
    file.write_text(ADAPTER)
    return str(file)


def fake_python(folder: Path, version: str) -> Path:
    """An environment whose Python says that it is of another version, and is this one."""
    made = make(folder)
    python = made / "bin" / "python"
    python.unlink()
    number = tuple(map(int, re.findall(r"\d+", version)))
    pretend = f"import sys; sys.version_info, sys.version = {number}, {version!r}; "
    run = "import runpy; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{pretend}{run}" "$@"\n')
    python.chmod(0o755)
    return made
