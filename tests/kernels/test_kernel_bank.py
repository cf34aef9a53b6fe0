"""Exploits are refused at the level that they state, honest odd kernels are accepted."""

import importlib.util
import secrets

import kernel_bank as bank
import kernel_table as table
import pytest

from conformance.kernels import preparation
from conformance.kernels.isolation import best_here

BANK = {one.name: one for one in bank.kernels("exploits") + bank.kernels("honest")}
HANDFUL = (
    "cached_by_address", "leaves_a_process", "reads_parent_memory", "right_once_in_nhwc",
    "memo_by_first_kilobyte", "changes_the_times", "writes_past_input",
)  # fmt: skip
REFUSED = (
    "zeros", "accepts_everything", "calls_our_reference", "clears_input", "detects_poison",
    "detects_clean_memory", "f16_accumulation", "keeps_a_key_in_the_system", "kept_buffer",
    "knows_visible_inputs", "leaves_rounding_toward_zero", "reshapes_its_input",
    "reuses_after_four_calls", "right_when_called_once", "sometimes_wrong", "stale_unless_poisoned",
    "uses_the_network", "writes_outside", "connects_to_a_socket_file",
    "memo_by_samples", "memo_by_both_ends", "memo_in_bf16", "memo_in_f32",
    "memo_without_attributes", "clears_input_in_next_call", "clears_input_at_the_end",
    "big_endian_result", "empties_an_attribute", "writes_before_input", "changes_a_mode",
    "changes_an_owner", "sets_file_attributes", "makes_a_user_namespace",
    "keeps_memory_in_files", "forks_without_end", "fills_the_disk", "takes_all_memory",
)  # fmt: skip
"""An exploit for each check and each wall; ``kernel_table.py --grade`` asks all."""

ODD = ("threads_in_any_order",)
ACCEPTED = (
    "keeps_a_workspace", "kernelbench_model", "backendbench_function", "flushes_subnormals",
    "works_in_a_child", "prints_a_lot", "memo_by_content", "sparse_table", "images_in_nhwc",
)  # fmt: skip


CHALLENGED = ("kept_buffer", "knows_visible_inputs", "leaves_a_process", "images_in_f32")
"""What repeats refuse, what new data refuse, what a challenge lets through, an honest kernel."""

IMAGES = {"dtypes": ["f32"], "ranks": [4]}


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


@pytest.fixture(scope="module")
def seed():
    """A seed that nobody knows."""
    return secrets.randbelow(preparation.SEEDS)


@pytest.mark.parametrize("kernel", sweep(HANDFUL, REFUSED))
def test_an_exploit_is_refused_at_its_level(kernel, seed):
    run = bank.graded(kernel, at(kernel.level), seed)
    assert run.exit_code != 0, bank.reasons(run)
    assert not run.conformant


@pytest.mark.parametrize("kernel", sweep(ODD, ACCEPTED))
def test_an_honest_kernel_is_accepted(kernel, seed):
    run = bank.graded(kernel, best_here().level, seed)
    assert run.exit_code == 0, bank.reasons(run)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A folder for suites of challenges."""
    return tmp_path_factory.mktemp("challenge-")


@pytest.mark.parametrize("name", CHALLENGED)
def test_a_challenge_refuses_what_it_is_said_to_refuse(name, fresh):
    kernel = BANK[name]
    assert bank.challenged(kernel, fresh, 23, "smoke", IMAGES) == stated(kernel)


@pytest.mark.exhaustive
def test_a_first_look_by_a_challenge_accepts_honest_kernels(tmp_path):
    """And refuses most exploits, by f32 images. ``kernel_table.py --grade`` asks all, of core."""
    found = {
        name: bank.challenged(BANK[name], tmp_path, 29, "smoke", IMAGES)
        for name in (*HANDFUL, *REFUSED[::3], *ODD, *ACCEPTED)
        if not BANK[name].needs or importlib.util.find_spec(BANK[name].needs)
    }
    through = {name for name in found if stated(BANK[name]) == "passes"}
    assert through <= {name for name, verdict in found.items() if verdict == "passes"}
    refused = {name for name, verdict in found.items() if verdict == "refuses"}
    assert len(refused) >= 0.9 * len(found.keys() - through)


def stated(kernel):
    """What a challenge says of a kernel, by its file."""
    honest = kernel.path.is_relative_to(bank.HERE / "honest")
    return "passes" if honest or kernel.through else "refuses"


def test_each_exploit_says_what_other_suites_do():
    for one in bank.kernels("exploits"):
        assert one.public in ("refuses", "passes"), one.name
        assert one.challenge == "refuses" or one.through, one.name
        # What passes where nobody has seen the data passes where all are known.
        assert one.public == "passes" or not one.through, one.name
    for one in bank.kernels("honest"):
        assert {one.public, one.challenge, one.missed} == {""}, one.name


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
