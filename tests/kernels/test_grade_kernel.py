"""What grade-kernel takes, refuses and says; the bank is in test_bank.py."""

import ctypes
import itertools
import re
import shlex
import sys
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import kernel_bank as bank
import numpy as np
import pytest
import tiers
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.errors import BackendError, UsageError
from conformance.generate import recorded
from conformance.kernels import grade_kernel, isolation, jail, runner
from conformance.kernels.fresh import fresh_suite
from conformance.kernels.isolation import KernelIsolation
from conformance.log.reader import read
from conformance.model import FAILED
from conformance.specification import find_spec

OP = bank.OPERATOR
ROOT = Path(__file__).parents[2]
RIGHT = """
import numpy as np

def kernel(data):
    with np.errstate(all="ignore"):
        axes = tuple(range(2, data.ndim))
        return data.mean(axis=axes, keepdims=True, dtype=np.float64).astype(data.dtype)
"""


def invoked(*words):
    return CliRunner().invoke(main, ["grade-kernel", *map(str, words)])


def test_the_command_states_isolation_seed_precision_and_no_claim(tmp_path):
    file = tmp_path / "right.py"
    file.write_text(RIGHT)
    done = invoked(file, "--op", OP, "--suite", "smoke", "--isolation", 0, "--seed", 5)
    assert done.exit_code == 0, done.output
    assert "no claim (the smoke suite)" in done.output
    assert "Isolation: level 0 (a process: finds honest mistakes, no attacks)" in done.output
    assert "Seed: 5 " in done.output
    assert re.search(r"Precision claimed: standard; shown: .*f32 (exact|standard)", done.output)
    assert not re.search(r"^conformant", done.output, re.IGNORECASE | re.MULTILINE)


@pytest.mark.exhaustive
def test_few_graded_vectors_prove_too_little(tmp_path):
    excluding = [{"when": "any(size > 1)", "reason": "one element a plane"}]
    declared = {"dtypes": ["f32"], "ranks": [4], "excluding": excluding}
    file = tmp_path / "few.py"
    file.write_text(f"CAPABILITIES = {declared}\n{RIGHT}")
    done = invoked(file, "--op", OP, "--isolation", 0, "--seed", 5)
    assert done.exit_code == 4, done.output
    words = " ".join(done.output.split())
    assert re.search(r"INCONCLUSIVE\. \d+ of 5\d\d vectors passed", words), done.output
    assert "Fewer than 50 value vectors prove little. For a claim, the kernel has to" in words
    assert "--complete" not in words


def test_a_seed_gives_the_same_suite_again_and_another_one_other_data(tmp_path, exhaustive):
    spec = find_spec(OP)
    made = [
        fresh_suite(spec, tmp_path / str(number), seed=seed, suite="smoke")
        for number, seed in enumerate((1, 2, 1) if exhaustive else (1, 2))
    ]
    one, other, *again = ({entry.id for entry in suite.manifest.vectors} for suite in made)
    assert all(ids == one for ids in again)
    assert not one & other
    assert not one & {entry.id for entry in tiers.of(OP).manifest.vectors}
    pairs = list(pairwise(made[0].vectors()))
    twins = [(a, b) for a, b in pairs if replace(a.case, seed=0) == replace(b.case, seed=0)]
    assert len(twins) > 5
    assert all(a.inputs[0].tobytes() != b.inputs[0].tobytes() for a, b in twins)


@pytest.mark.exhaustive
def test_source_is_graded_as_a_file_is():
    run = grade_kernel(RIGHT, op=OP, suite="smoke", isolation=0)
    assert run.exit_code == 0, bank.reasons(run)


def test_a_callable_is_graded_inline_and_told_so():
    space = {}
    exec(RIGHT, space)
    run = conformance.grade_kernel(space["kernel"], op=OP, suite="smoke")
    assert run.exit_code == 0
    assert run.isolation is None
    assert "a callable was graded inline, in this process" in run.remarks[0]
    with pytest.raises(UsageError, match="graded in this process"):
        conformance.grade_kernel(space["kernel"], op=OP, require_isolation=1)


def test_one_that_is_right_in_each_first_call_is_refused():
    space, calls = {}, itertools.count()
    exec(RIGHT, space)

    def kernel(data):
        right = space["kernel"](data)
        return right + right.dtype.type(1) if next(calls) % 2 else right

    run = conformance.grade_kernel(kernel, op=OP, suite="smoke", dtypes=["f32"], ranks=[3])
    assert run.exit_code == 1
    assert any("in call 2 of 2 on the same inputs" in one.message for one in run.run.results)


def test_less_isolation_than_required_is_refused_with_what_is_missing(monkeypatch):
    nothing = KernelIsolation(0, missing="the system has no Landlock")
    monkeypatch.setattr(isolation, "best_here", lambda: nothing)
    with pytest.raises(UsageError, match="cannot be had: the system has no Landlock"):
        grade_kernel(RIGHT, op=OP, require_isolation=1)
    with pytest.raises(UsageError, match="isolation 0 was asked for"):
        grade_kernel(RIGHT, op=OP, isolation=0, require_isolation=1)
    with pytest.raises(UsageError, match="a container of your own"):
        grade_kernel(RIGHT, op=OP, isolation=2)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "it defines no kernel: a class ModelNew"),
        ("raise OSError('no device')\n", "no device"),
        ("def kernel(:\n", "SyntaxError"),
        ("import conformance\n", "without the package that grades it"),
    ],
)
def test_a_file_that_is_no_kernel_is_told_of(source, message):
    with pytest.raises(BackendError, match=message):
        grade_kernel(source, op=OP, suite="smoke", isolation=0)


def test_a_file_that_is_not_there_is_told_of():
    with pytest.raises(BackendError, match=r"no file nowhere\.py"):
        grade_kernel("nowhere.py", op=OP)
    with pytest.raises(BackendError, match="is no Python file"):
        grade_kernel(ROOT / "README.md", op=OP)


@pytest.mark.exhaustive
def test_a_program_is_graded_and_isolated():
    words = [sys.executable, "-I", str(Path(runner.__file__)), "KERNEL", OP, "auto", "{}"]
    words[3] = str(bank.HERE / "honest" / "numpy_sum.py")
    level = isolation.best_here().level
    run = grade_kernel("exec:" + shlex.join(words), op=OP, suite="smoke", isolation=level)
    assert run.exit_code == 0, bank.reasons(run)
    assert run.isolation == level


@pytest.mark.exhaustive
def test_what_a_kernel_does_not_claim_is_not_tested():
    run = grade_kernel(RIGHT, op=OP, suite="smoke", isolation=0, dtypes=["f32"], ranks=[4])
    graded = {(one.dtype, one.rank) for one in run.run.results if one.status == "pass"}
    assert graded == {("f32", 4)}


def module(**own):
    return type("module", (), own)


@pytest.mark.parametrize(
    ("own", "convention", "found"),
    [
        ({"kernel": lambda data: data}, "auto", "arrays"),
        ({"AvgPool_1": lambda data: data}, "auto", "arrays"),
        ({"kernel": lambda data: data}, "tensors", "tensors"),
        ({"avg_pool2d_kernel_impl": lambda self: self}, "auto", "tensors"),
        ({"ModelNew": object, "Model": int, "kernel": print}, "auto", "module"),
    ],
)
def test_conventions_are_found(own, convention, found):
    kernel, how = runner.find_kernel(module(**own), "AvgPool-1", convention)
    assert how == found
    assert kernel is own.get("ModelNew", kernel)


def test_attributes_become_arguments_by_name():
    def kernel(data, exclude_pad, kernel: int, strides=(1,)):
        return exclude_pad, kernel, strides

    bound = runner.BoundKernel(kernel, "arrays")
    data = np.zeros(3)
    assert bound.run([data], {"exclude-pad": True, "kernel": [2, 2]}) == (True, 2, (1,))
    with pytest.raises(runner.Unsupported, match="one number for all axes"):
        bound.run([data], {"exclude-pad": True, "kernel": [2, 3]})
    with pytest.raises(runner.Unsupported, match="no parameter auto_pad"):
        bound.run([data], {"exclude-pad": True, "kernel": [2], "auto_pad": "valid"})


def test_inputs_of_one_size_lie_in_the_same_memory():
    storage = runner.Storage()
    first = storage.array(0, b"\0" * 8, np.dtype("<f4"), [2])
    address = first.ctypes.data
    second = storage.array(0, b"\1" * 8, np.dtype("<f4"), [2])
    assert second.ctypes.data == address
    assert second.tobytes() == b"\1" * 8
    assert storage.array(0, b"\2" * 12, np.dtype("<f4"), [3]).ctypes.data != address
    assert first.tobytes() == b"\xff" * 8


def answered(storage, kernel, attributes=None, size=4):
    """How the runner tells of one call of a kernel on the numbers from 0."""
    header = {
        "number": 1,
        "inputs": [{"dtype": "f32", "shape": [size]}],
        "attributes": attributes or {},
        "limit": 1 << 20,
    }
    data = np.arange(size, dtype="<f4").tobytes()
    bound = runner.BoundKernel(kernel, "arrays")
    return runner.respond(bound, header, data, storage, runner.MemoryFill(), set())[0]


def test_an_input_that_is_changed_after_its_call_is_told():
    storage, kept = runner.Storage(), []
    assert answered(storage, lambda data: kept.append(data) or data + 1)["ending"] == "returned"
    kept[0][3] += 1
    assert storage.late() == "an input was changed after its call had returned"
    later = answered(storage, lambda data: data + 1)
    assert later["message"] == "an input was changed after its call had returned"
    assert "outputs" not in later


def test_an_input_that_a_later_call_changes_is_told():
    storage, kept = runner.Storage(), []

    def kernel(data):
        kept.append(data)
        kept[0][0] = 1
        return data + 1

    assert answered(storage, lambda data: kept.append(data) or data + 1)["ending"] == "returned"
    told = answered(storage, kernel, size=8)
    assert (told["ending"], told["message"]) == (
        "aborted",
        "an input of an earlier call was changed",
    )


@pytest.mark.parametrize("place", [-1, 4])
def test_a_write_beside_an_input_is_told(place):
    def kernel(data):
        wide = np.lib.stride_tricks.as_strided(data, (1,), (4,))
        address = wide.ctypes.data + 4 * place
        ctypes.c_float.from_address(address).value = 1.5
        return data + 1

    told = answered(runner.Storage(), kernel)
    assert (told["ending"], told["changed"]) == ("aborted", [])
    assert told["message"] == "memory before or after an input was written"


@pytest.mark.parametrize("raises", [False, True])
def test_an_attribute_that_is_emptied_is_told(raises):
    def kernel(data, strides):
        strides.clear()
        if raises:
            raise ValueError("no strides")
        return data + 1

    told = answered(runner.Storage(), kernel, {"strides": [1, 2]})
    assert told["ending"] == "aborted"
    assert "the call changed strides" in told["message"]


def test_nothing_is_swapped_for_a_kernel():
    told = answered(runner.Storage(), lambda data: data.astype(">f4"))
    (output,) = told["outputs"]
    assert (output["dtype"], output["swapped"], output["sent"]) == (">f4", "f32", False)
    swapped = RIGHT.replace("astype(data.dtype)", "astype(data.dtype.newbyteorder('>'))")
    run = grade_kernel(swapped, op=OP, suite="smoke", isolation=0, dtypes=["f32"], ranks=[3])
    assert run.exit_code == 1


def test_a_change_after_the_last_call_is_told_by_the_exit_code():
    assert runner.LATE_CODE == jail.LATE_CODE
    run = grade_kernel(LATE, op=OP, suite="smoke", isolation=0, dtypes=["f32"], ranks=[3], seed=3)
    graded = [one for one in run.run.results if one.status in FAILED]
    assert not graded  # all calls were over
    assert run.changed_late
    assert (run.exit_code, run.conformant, run.passed) == (1, False, False)
    assert any("changed after its call had returned" in one for one in run.remarks)


LATE = (
    RIGHT
    + """
import os, select, threading

right, last = kernel, []

def kernel(data):
    if not last:
        threading.Thread(target=wait, daemon=True).start()
    last[:] = [data]
    return right(data)

def wait():  # until there are no more requests
    poll = select.poll()
    for descriptor in range(3, 20):
        link = f"/proc/self/fd/{descriptor}"
        if os.path.lexists(link) and "pipe" in os.readlink(link):
            poll.register(descriptor, 0)
    poll.poll()
    last[0][...] = 7
"""
)


def test_name_digest_and_claims_are_not_the_kernels_to_tell():
    claimed = {"dtypes": ["f32"], "ranks": [3], "suite": "smoke", "isolation": 0}
    run = grade_kernel(RIGHT + FORGED, op=OP, **claimed)
    backend = run.run.header["backend"]
    digest = sha256((RIGHT + FORGED).encode()).hexdigest()
    assert (backend["name"], backend["version"]) == ("kernel.py", digest[:12])
    assert any(digest in one for one in run.remarks)
    assert {(one.dtype, one.rank) for one in run.run.results if one.status == "pass"} == {
        ("f32", 3)
    }


FORGED = """
import json
write, told = json.dumps, {"name": "cuDNN", "version": "9", "capabilities": {"dtypes": ["f64"]}}
json.dumps = lambda what: write({"hello": {**what["hello"], **told}} if "hello" in what else what)
"""


def test_what_was_returned_is_overwritten_when_it_was_sent():
    returned = [np.zeros(3, np.float32), np.zeros(2, np.int64)]
    runner.MemoryFill().after_call(returned)
    assert all((one == -1).all() for one in returned)


def test_a_hidden_folder_is_left_out_and_its_neighbours_are_not(tmp_path):
    for name in ("a/hidden", "a/seen", "b"):
        (tmp_path / name).mkdir(parents=True)
    found = set(isolation.paths_without(tmp_path, [tmp_path / "a" / "hidden"]))
    assert found == {tmp_path / "a" / "seen", tmp_path / "b"}


@pytest.mark.exhaustive
def test_an_honest_kernel_is_conformant_by_the_strength_of_a_fresh_core_suite():
    run = grade_kernel(bank.HERE / "honest" / "in_f64.py", op=OP)
    assert run.conformant, bank.reasons(run)
    claim = run.run.footer["claim"]
    strength = re.search(r"strength ([\d.]+) %, suite fresh", claim)
    assert strength is not None, claim
    assert float(strength[1]) == 100


@pytest.mark.parametrize("seed", tiers.first([300, 301]))
def test_a_fresh_suite_kills_what_the_published_one_kills_also_where_fitting_data_are_rare(
    tmp_path, seed
):
    spec = find_spec("onnx.GlobalMaxPool-22")  # one maximum in 33 lies in the last row
    published = recorded.read(spec.op)
    made = fresh_suite(spec, tmp_path, seed=seed).manifest.strength[spec.op]
    assert made.parts.survivors == published.parts.survivors


@pytest.mark.exhaustive
def test_narrow_sums_pass_where_they_are_claimed_and_the_verdict_shows_them():
    file = bank.HERE / "honest" / "native_f16.py"
    claimed = "f16=native,bf16=native"
    run = grade_kernel(file, op=OP, suite="smoke", precision=claimed)
    assert run.exit_code == 0, bank.reasons(run)
    assert "f16 native" in run.remarks[2]
    assert grade_kernel(file, op=OP, suite="smoke").exit_code == 1


WRONG = RIGHT.replace("return data", "return 2 * data")


def test_the_vector_of_a_failure_can_be_shown_afterwards(tmp_path):
    file, out = tmp_path / "wrong.py", tmp_path / "out"
    file.write_text(WRONG)
    words = [file, "--op", OP, "--suite", "smoke", "--isolation", 0]
    words += ["--ranks", 3, "--dtypes", "f32"]
    done = invoked(*words, "--out", out)
    assert done.exit_code == 1, done.output
    (told,) = (line for line in done.output.splitlines() if line.startswith("To see a vector: "))
    command = shlex.split(told.removeprefix("To see a vector: "))
    run = read(out / "run.jsonl")
    assert shlex.split(run.findings[0].detail["show"]) == command
    shown = CliRunner().invoke(main, command[1:])
    assert shown.exit_code == 0, shown.output
    assert command[2] in shown.stdout
    other = tmp_path / "other" / "suite"
    other.mkdir(parents=True)
    (other / "mine.txt").write_text("mine")
    refused = invoked(*words, "--out", other.parent)
    assert refused.exit_code == 2
    assert (other / "mine.txt").read_text() == "mine"


def test_without_a_report_it_says_what_keeps_the_vectors(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    done = invoked(file, "--op", OP, "--suite", "smoke", "--isolation", 0, "--ranks", 3)
    assert "--out DIR keeps them" in done.output


@pytest.mark.parametrize(
    "beyond",
    ["right[:, 33:] = 0", "right[5:] = 0", "right[...] = 0 if data.size > 26_400 else right"],
)
def test_zeros_beyond_what_is_published_are_refused(beyond):
    space = {}
    exec(RIGHT, space)

    def kernel(data):
        right = space["kernel"](data)
        exec(beyond, {"right": right, "data": data})
        return right

    run = grade_kernel(kernel, op=OP, suite="smoke", dtypes=["f32"])
    assert run.exit_code == 1, bank.reasons(run)
