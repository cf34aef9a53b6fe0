"""Kernels are graded by copies of one fresh suite: making it takes longer than most gradings."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.kernels import preparation
from conformance.suite.store import Suite, open_suite


@pytest.fixture(scope="session", autouse=True)
def copied_suites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels know nothing of each other: the first smoke suite of an operator serves all, and a
    core suite, of which vectors are counted, all of its seed.
    """
    make, paths = preparation.fresh_suite, {}

    def copied(spec: Any, out: Path, *, suite: str, seed: int, **options: Any) -> Suite:
        key = spec.op, suite, seed if suite == "core" else 0
        if key not in paths:
            folder = tmp_path_factory.mktemp("fresh-") / "suite"
            paths[key] = make(spec, folder, suite=suite, seed=seed, **options).path
        return open_suite(shutil.copytree(paths[key], out))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "fresh_suite", copied)
        yield
