"""Which extras ``each_extra.py`` takes for a change."""

from __future__ import annotations

import pytest
from change import ROOT
from each_extra import EXTRAS, own_tests, touched

BACKENDS = ROOT / "conformance" / "backends"

USERS = {
    "numba": (ROOT / "clients" / "python" / "cuda_pool.py", "run"),
    "dask": (ROOT / "conformance" / "cluster" / "workers.py", "cluster"),
    "remote": (ROOT / "conformance" / "remote.py", "remote"),
}
"""What uses an extra of no adapter, and the folder of its tests."""


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_uses_an_extra_touches_it_and_has_tests(extra: str) -> None:
    adapter = BACKENDS / f"{extra.replace('-', '_')}.py"
    user, folder = USERS.get(extra, (adapter, "backends"))
    # An adapter's calls may be in a module that scripts hold as text.
    alone = user.with_name(f"standalone_{user.name}")
    assert extra in touched([user, alone], 0)
    assert folder in {file.parent.name for file in own_tests(extra)}


def test_of_many_that_are_touched_two_are_taken_and_each_in_turn() -> None:
    files = [BACKENDS / f"{name}.py" for name in ("torch", "jax", "ncnn")]
    found = [touched(files, turn) for turn in range(3)]
    assert found == [["torch", "jax"], ["jax", "ncnn"], ["ncnn", "torch"]]


def test_one_in_turn_where_no_extra_is_touched() -> None:
    files = [ROOT / "README.md", ROOT / "conformance" / "model.py", ROOT / "deleted.py"]
    assert [touched(files, turn) for turn in range(len(EXTRAS))] == [[one] for one in EXTRAS]
