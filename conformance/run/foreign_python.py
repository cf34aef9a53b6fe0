"""Starts a worker in another Python environment, in which this package is not installed.

A script, run by :mod:`conformance.run.process`. It lends the environment this package alone: not
what is installed beside it, which belongs to another Python. Python 3.6 must understand this file,
to say that it is too old.
"""

import os
import sys

OLDEST = (3, 11)
NEEDED = ("numpy", "ml_dtypes")
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def main() -> None:
    """Do what the arguments of this process say, or tell why that cannot be."""
    module = sys.argv.pop(1)
    beside = os.path.join(PACKAGE, "run")  # noqa: PTH118
    sys.path[:] = [folder for folder in sys.path if folder != beside]  # where Python puts scripts
    if sys.version_info < OLDEST:
        _refuse(
            module,
            f"its Python is {sys.version.split()[0]}, and a backend needs "
            f"{OLDEST[0]}.{OLDEST[1]} or newer",
            "make the environment with a newer Python",
        )
    import importlib.util

    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        _refuse(
            module,
            f"there is no {' and no '.join(missing)}, in which arrays reach the backend",
            f"install it there: {sys.executable} -m pip install {' '.join(missing)}",
        )
    spec = importlib.util.spec_from_file_location(
        "conformance",
        os.path.join(PACKAGE, "__init__.py"),  # noqa: PTH118
        submodule_search_locations=[PACKAGE],
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["conformance"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module(module).main()


def _refuse(module: str, message: str, hint: str) -> None:
    """Say so as the module would, which cannot be imported: a worker in the form of
    :mod:`conformance.run.framing`, :mod:`conformance.repro.account` in its file."""
    import json
    import struct

    if module != "conformance.run.worker":
        with open(sys.argv[1], "w") as file:  # noqa: PTH123
            json.dump({"error": message, "hint": hint}, file)
        sys.exit(1)
    header = json.dumps({"error": {"message": message, "hint": hint}}).encode("ascii")
    os.write(int(sys.argv[3]), struct.pack("<IQ", len(header), 0) + header)
    sys.exit(1)


if __name__ == "__main__":
    main()
