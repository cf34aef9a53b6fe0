"""The environment of a run for the log: processor, threads, versions."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance import threads

PACKAGES = ("numpy", "ml_dtypes")

VARIABLES = (
    *threads.VARIABLES,
    *("OMP_WAIT_POLICY", "KMP_AFFINITY", "MKL_ENABLE_INSTRUCTIONS"),
    *("ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "CUDA_VISIBLE_DEVICES"),
)

# The flags that decide which kernels a library picks.
KERNEL_FLAGS = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl"),
    *("avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "amx_fp16"),
    *("asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2", "sme"),
)


def of_process() -> dict[str, Any]:
    """Return the environment of this process: texts, and tables of texts or None.

    None in a table means that no such package is installed.
    """
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **of_system(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def of_system() -> dict[str, Any]:
    """Return the part of the environment that programs started by this process share."""
    return {
        "platform": " ".join((platform.system(), platform.machine(), *platform.libc_ver())).strip(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def fingerprint(process: Mapping[str, Any]) -> dict[str, Any]:
    """Return the environment of a run as JSON data, without names of people or machines.

    Args:
        process: what :func:`of_process` returned in the process in which the backend runs.
    """
    model, flags = _processor()
    return {
        **process,
        "byte_order": sys.byteorder,
        "processor": {
            "model": model,
            "flags": [flag for flag in KERNEL_FLAGS if flag in flags],
            "flags_sha256": hashlib.sha256(" ".join(sorted(flags)).encode()).hexdigest()[:16],
        },
        "cores": {"machine": os.cpu_count(), "usable": usable_cores()},
    }


def peak_memory() -> int | None:
    """Return the largest resident size of this process so far.

    Returns:
        Bytes; None if the system does not tell.
    """
    if sys.platform == "win32":
        return None
    try:
        # Unlike getrusage, this does not start from the peak of the process that started this one.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(
            int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")
        )
    except (OSError, StopIteration):
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _processor() -> tuple[str, set[str]]:
    """The processor's name and its feature flags, as far as the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor(), set()
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags") or fields.get("Features") or ""
    return fields.get("model name") or platform.processor() or platform.machine(), set(
        flags.split()
    )


def usable_cores() -> int | None:
    """Count the cores that this process may use; None if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
