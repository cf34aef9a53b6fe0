"""Exploits are refused at the level that they state, honest odd kernels are accepted."""

import kernel_bank as bank
import kernel_table as table
import pytest

from conformance.kernels.isolation import best_here

BANK = {one.name: one for one in bank.kernels("exploits") + bank.kernels("honest")}
HANDFUL = ("cached_by_address", "leaves_a_process", "reads_parent_memory")
REFUSED = (
    "zeros", "accepts_everything", "calls_our_reference", "clears_input", "detects_poison",
    "detects_clean_memory", "f16_accumulation", "keeps_a_key_in_the_system", "kept_buffer",
    "knows_visible_inputs", "leaves_rounding_toward_zero", "reshapes_its_input",
    "reuses_after_four_calls", "right_when_called_once", "sometimes_wrong", "stale_unless_poisoned",
    "uses_the_network", "writes_outside", "connects_to_a_socket_file",
)  # fmt: skip
"""An exploit for each check and each wall; ``kernel_table.py --grade`` asks all."""

ODD = ("threads_in_any_order",)
ACCEPTED = (
    "keeps_a_workspace", "kernelbench_model", "backendbench_function", "flushes_subnormals",
    "works_in_a_child", "prints_a_lot", "memo_by_content", "sparse_table",
)  # fmt: skip


def sweep(quick, more=()):
    return [
        pytest.param(
            BANK[name],
            id=name,
            marks=[
                *([] if name in quick else [pytest.mark.exhaustive]),
                *([pytest.mark.needs(BANK[name].needs)] if BANK[name].needs else []),
            ],
        )
        for name in (*quick, *more)
    ]


def at(level):
    """Skips a test whose isolation this machine does not allow."""
    if level and best_here().level < level:
        pytest.skip(f"level {level} cannot be had here: {best_here().missing}")
    return level


@pytest.mark.parametrize("kernel", sweep(HANDFUL, REFUSED))
def test_an_exploit_is_refused_at_its_level(kernel):
    run = bank.graded(kernel, at(kernel.level))
    assert run.exit_code != 0, bank.reasons(run)
    assert not run.conformant


@pytest.mark.parametrize("kernel", sweep(ODD, ACCEPTED))
def test_an_honest_kernel_is_accepted(kernel):
    run = bank.graded(kernel, best_here().level)
    assert run.exit_code == 0, bank.reasons(run)


def test_the_guide_has_the_table_of_this_bank():
    guide = (table.ROOT / table.GUIDE).read_text(encoding="utf-8")
    assert table.within(guide) == guide, "run python tests/kernels/kernel_table.py"


def test_the_bank_is_as_large_as_it_is_said_to_be():
    exploits, honest = bank.kernels("exploits"), bank.kernels("honest")
    assert len(BANK) == len(exploits) + len(honest)
    assert len([one for one in exploits if not one.missed]) >= 40
    assert len(honest) >= 30
    assert {one.level for one in exploits} == {0, 1}
    assert all(one.about for one in BANK.values())
    for kind in (exploits, honest):
        assert 5 * sum(one.guide_only for one in kind) >= len(kind)  # at least a fifth
