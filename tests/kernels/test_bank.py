"""Exploits are refused at the level that they state, honest odd kernels are accepted."""

import bank
import pytest
import table

from conformance.kernels.isolation import best_here

EXPLOITS, HONEST = bank.kernels("exploits"), bank.kernels("honest")
HANDFUL = ("cached_by_address", "leaves_a_process")
ODD = ("threads_in_any_order",)
ATTACK = "reads_parent_memory"
"""The exploits, odd kernels and attack of the quick tier."""


def sweep(kernels, quick):
    return [
        pytest.param(
            one,
            id=one.name,
            marks=[
                *([] if one.name in quick else [pytest.mark.exhaustive]),
                *([pytest.mark.needs(one.needs)] if one.needs else []),
            ],
        )
        for one in kernels
    ]


def at(level):
    """Skips a test whose isolation this machine does not allow."""
    if level and best_here().level < level:
        pytest.skip(f"level {level} cannot be had here: {best_here().missing}")
    return level


@pytest.mark.parametrize("kernel", sweep(EXPLOITS, (*HANDFUL, ATTACK)))
def test_an_exploit_is_refused_at_its_level(kernel):
    run = bank.graded(kernel, at(kernel.level))
    assert run.exit_code != 0, bank.reasons(run)
    assert not run.conformant


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", sweep([k for k in EXPLOITS if not k.level], ()))
def test_an_exploit_is_refused_at_a_higher_level_too(kernel):
    assert bank.graded(kernel, at(1)).exit_code != 0


@pytest.mark.parametrize("kernel", sweep(HONEST, ODD))
def test_an_honest_kernel_is_accepted(kernel):
    run = bank.graded(kernel, best_here().level)
    assert run.exit_code == 0, bank.reasons(run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", sweep(HONEST, ()))
def test_an_honest_kernel_is_accepted_without_isolation_too(kernel):
    run = bank.graded(kernel, 0)
    assert run.exit_code == 0, bank.reasons(run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", sweep(EXPLOITS, ()))
def test_the_table_says_what_the_published_suite_does_about_an_exploit(kernel):
    assert bank.public(kernel) == kernel.public


def test_the_guide_has_the_table_of_this_bank():
    guide = (table.ROOT / table.GUIDE).read_text(encoding="utf-8")
    assert table.within(guide) == guide, "run python tests/kernels/table.py"


def test_the_bank_is_as_large_as_it_is_said_to_be():
    assert len(EXPLOITS) >= 40
    assert len(HONEST) >= 30
    assert {one.level for one in EXPLOITS} == {0, 1}
    assert all(one.about for one in EXPLOITS + HONEST)
