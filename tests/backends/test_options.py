"""Options of backends: how they are declared, written and passed on with the backend's name."""

from __future__ import annotations

import inspect
import json
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from conformance import api
from conformance.backends import Option
from conformance.backends.backend_name import BackendName, canonical, parse_backend_name
from conformance.backends.discovery import available, load_backend, locate, resolve_adapter
from conformance.backends.options import declared_by
from conformance.backends.protocol import environment_of
from conformance.cli import main
from conformance.cli.matrix_backends import parse_matrix_backends
from conformance.errors import BackendError, LogError, UsageError

BACKEND = """
from conformance.backends import Option
from conformance.backends.numpy import NumPy

class Scaled(NumPy):
    "NumPy's results, times a factor."

    name, version = "scaled", "1"
    options = (
        Option("factor", "What results are multiplied by.", default=1.0, type=float),
        Option("mode", "How.", default="plain", choices=("plain", "odd")),
        Option("level", "How much.", type=int, choices=(1, 2)),
        Option("fast", "Whether it hurries.", default=False, type=bool),
    )

    def __init__(self, factor=1.0, mode="plain", level=None, fast=False):
        self.given = factor, mode, level, fast

    def environment(self):
        return {"given": repr(self.given)}

    def run(self, op, inputs, attributes):
        return [one * one.dtype.type(self.given[0]) for one in super().run(op, inputs, attributes)]

plain = Scaled()

def run(op, inputs, attributes):
    raise ValueError
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scaled.py"
    path.write_text(BACKEND, "utf-8")
    return path


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@given(
    st.text(st.characters(blacklist_characters="?", codec="utf-8"), min_size=1),
    st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.text(), max_size=3),
)
def test_an_address_is_read_back_as_it_was_written(name, options):
    if name.startswith("exec:"):
        return
    address = BackendName(name, options)
    assert parse_backend_name(str(address)) == address
    assert canonical(str(address)) == str(address)


def test_there_is_one_form_for_what_means_the_same():
    expected = "torch?device=cuda:0&threads=2"
    assert canonical("torch?threads=2&device=cuda:0") == expected
    assert canonical("torch", ["threads=2", "device=cuda:0"]) == expected
    assert canonical("torch?threads=2", ["device=cuda:0"]) == expected
    assert canonical("mylib", ["path=a b&c=1@2"]) == "mylib?path=a%20b%26c%3D1%402"
    assert parse_backend_name("mylib?path=a%20b%26c%3D1%402").options == {"path": "a b&c=1@2"}


@pytest.mark.parametrize(
    ("spec", "more", "message"),
    [
        ("torch?cuda", [], "'cuda' is no option"),
        ("torch?", [], "'' is no option"),
        ("torch?=cuda", [], "'=cuda' is no option"),
        ("torch", ["cuda"], "'cuda' is no option"),
        ("torch?device=cpu", ["device=cpu"], "option 'device' is given twice"),
        ("torch?device=cpu&device=cuda", [], "option 'device' is given twice"),
        ("exec:./runner", ["device=0"], "is a program, and takes no --option"),
    ],
)
def test_what_is_no_option_is_refused(spec, more, message):
    with pytest.raises(UsageError) as caught:
        canonical(spec, more)
    assert message in caught.value.message


def test_an_adapter_keeps_its_options_in_another_environment():
    assert resolve_adapter("torch?threads=2") == "conformance.backends.torch:Torch?threads=2"


def test_a_program_has_its_options_on_its_own_command_line():
    assert canonical("exec:./runner --url http://host/?a=1&b") == (
        "exec:./runner --url http://host/?a=1&b"
    )


def test_a_class_is_called_with_the_values(file):
    made = load_backend(f"{file}:Scaled?factor=2&mode=odd&level=2&fast=yes")
    assert made.given == (2.0, "odd", 2, True)
    assert load_backend(f"{file}:Scaled?fast=0").given == (1.0, "plain", None, False)
    assert load_backend(f"{file}:Scaled").given == (1.0, "plain", None, False)


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (
            "Scaled?facto=2",
            "no option 'facto'",
            "did you mean 'factor'? options: factor (a number)",
        ),
        (
            "Scaled?x=2",
            "no option 'x'",
            "mode (one of plain, odd), level (one of 1, 2), fast (true",
        ),
        ("Scaled?factor=two", "factor=two: it is a number", "What results are multiplied by."),
        ("Scaled?level=3", "level=3: it is one of 1, 2", "How much."),
        ("Scaled?mode=even", "mode=even: it is one of plain, odd", "How."),
        ("Scaled?fast=maybe", "fast=maybe: it is true or false", "Whether it hurries."),
        ("plain?factor=2", "it has no options", "leave 'factor' out"),
        ("run?factor=2", "it has no options", "leave 'factor' out"),
    ],
)
def test_other_options_and_values_say_what_there_is(file, given, message, hint):
    for executor in ("inline", "process"):
        with pytest.raises(BackendError) as caught:
            api.check("smoke", f"{file}:{given}", executor=executor)
        assert message in caught.value.message
        assert hint in caught.value.hint
    shown = invoked("check", "--suite", "smoke", "--backend", f"{file}:{given}")
    assert shown.exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        dict(name="no name", help="x"),
        dict(name="device", help=" "),
        dict(name="device", help="x", type=list),
    ],
)
def test_an_option_that_is_none_cannot_be_declared(words):
    with pytest.raises(BackendError, match="it needs the name of an argument"):
        Option(**words)


def test_options_are_a_tuple_of_them(file):
    class Wrong:
        name = version = "1"
        options = ("device",)

        def run(self, op, inputs, attributes): ...

    with pytest.raises(BackendError, match="'options' is no tuple"):
        declared_by(Wrong)


@pytest.mark.parametrize("name", [one.name for one in available()])
def test_a_shipped_adapter_takes_what_it_declares(name):
    made = locate(name).value
    taken = inspect.signature(made).parameters
    declared = declared_by(made)
    if name != "reference":  # it takes specifications, in Python alone
        assert set(taken) == {one.name for one in declared}
    for one in declared:
        assert taken[one.name].default == one.default
        assert one.default is None or not one.choices or one.default in one.choices


def test_what_carries_the_name_carries_the_options(file, tmp_path):
    out = tmp_path / "out"
    words = ("--suite", "smoke", "--op", "AvgPool-1", "--dtypes", "f32", "--out", out)
    backend = ("--backend", f"{file}:Scaled")
    shown = invoked("check", *backend, "--option", "mode=odd", "--option", "factor=2", *words)
    assert shown.exit_code == 1, shown.output
    full = f"{file}:Scaled?factor=2&mode=odd"
    lines = [json.loads(line) for line in (out / "run.jsonl").read_text("utf-8").splitlines()]
    header, found = lines[0], [one for one in lines if one["event"] == "finding"]
    assert header["backend"]["spec"] == full
    assert header["backend"]["name"] == "scaled (factor=2, mode=odd)"
    assert header["backend"]["sha256"]
    assert header["environment"]["backend"]["given"] == "(2.0, 'odd', None, False)"
    assert found
    assert all(full in shlex.split(one["reproduce"]) for one in found)
    # The same run goes on under any spelling, and under no other options.
    again = f"{file}:Scaled?mode=odd&factor=2"
    shown = invoked("check", "--backend", again, "--resume", *words)
    assert "nothing to resume: the run is complete" in shown.output
    shown = invoked("check", *backend, "--resume", *words)
    assert shown.exit_code == 2
    assert "backend.spec" in shown.output


@pytest.mark.exhaustive
def test_shards_of_other_options_are_of_another_run(file, tmp_path):
    for part, factor in ((1, 2), (2, 3)):
        invoked(
            "check", "--backend", f"{file}:Scaled?factor={factor}", "--suite", "smoke",
            "--op", "AvgPool-1", "--shard", f"{part}/2", "--out", tmp_path / str(part),
        )  # fmt: skip
    with pytest.raises(LogError, match=r"backend\.(spec|name)"):
        api.merge([tmp_path / "1" / "run.jsonl", tmp_path / "2" / "run.jsonl"], "smoke")


@pytest.mark.exhaustive
def test_a_script_calls_the_class_with_them(file, tmp_path):
    run = api.check("smoke", f"{file}:Scaled?factor=2", ops=["AvgPool-1"])
    failed = next(one for one in run.results if one.kind == "value")
    script = tmp_path / "script.py"
    words = ("--suite", "smoke", "--backend", f"{file}:Scaled", "--option", "factor=2")
    shown = invoked("repro", failed.id, *words, "--out", script)
    assert shown.exit_code == 0, shown.output
    assert "tested on scaled (factor=2) 1." in script.read_text("utf-8")
    assert "Scaled(factor=2.0).run(op, inputs, attributes)" in script.read_text("utf-8")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert ended.returncode == 1, ended.stdout
    shown = invoked("show", failed.id, *words)
    assert "scaled (factor=2) 1" in shown.output


def test_a_matrix_has_a_label_for_each():
    found = parse_matrix_backends(
        ["torch?threads=2&device=cpu", "mine=torch?device=cuda:0", "torch"]
    )
    assert [(one.label, one.backend) for one in found] == [
        ("torch-device-cpu-threads-2", "torch?device=cpu&threads=2"),
        ("mine", "torch?device=cuda:0"),
        ("torch", "torch"),
    ]


def test_options_need_a_backend():
    shown = invoked("suite", "coverage", "--option", "device=cpu")
    assert shown.exit_code == 2
    assert "--option needs --backend" in shown.output


def test_they_are_listed(file):
    shown = invoked("backends", f"{file}:Scaled")
    assert shown.exit_code == 0
    assert shown.output.splitlines() == [
        f"{file}:Scaled: NumPy's results, times a factor.",
        "  factor: What results are multiplied by. It is a number. [default: 1.0]",
        "  mode: How. It is one of plain, odd. [default: plain]",
        "  level: How much. It is one of 1, 2.",
        "  fast: Whether it hurries. It is true or false. [default: False]",
    ]
    assert invoked("backends", "numpy").output.splitlines()[-1] == "no options"
    assert "did you mean 'torch'?" in invoked("backends", "torhc").output


def same(backend, plain, op, only=("f32",), **more):
    """Whether two backends answer alike, and that they answer."""
    runs = [api.check("smoke", one, ops=[op], only=only, **more) for one in (backend, plain)]
    seen = [[(one.id, one.status, one.kind) for one in run.results] for run in runs]
    assert any(status == "pass" for _, status, _ in seen[0])
    return seen[0] == seen[1]


@pytest.mark.needs("torch")
class TestTorch:
    def test_threads(self):
        made = load_backend("torch?threads=1&device=cpu")
        assert environment_of(made)["threads"] == "1"
        assert "    'cpu',\n    1,\n)" in made.reproduce(*question())
        assert same("torch?threads=1", "torch", "torch.max_pool-2")

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("device=tpu", "device=tpu: PyTorch"),
            ("device=meta", "device=meta: PyTorch"),
            ("device=cuda:77", "device=cuda:77: PyTorch"),
            ("threads=0", "threads=0"),
        ],
    )
    def test_what_is_not_there(self, given, message):
        with pytest.raises(BackendError) as caught:
            load_backend(f"torch?{given}")
        assert caught.value.message.startswith(message)
        assert caught.value.hint

    def test_another_device_claims_what_only_the_cpu_lacks(self):
        from conformance.backends.torch import CAPABILITIES, DEVICE_CAPABILITIES

        lacking = set(CAPABILITIES.excluding) - set(DEVICE_CAPABILITIES.excluding)
        assert all("on the CPU" in one.reason for one in lacking)
        assert set(DEVICE_CAPABILITIES.excluding) < set(CAPABILITIES.excluding)

    def test_on_a_gpu(self):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("PyTorch finds no CUDA device")
        assert same("torch?device=cuda", "torch", "torch.max_pool-2")


def question():
    import numpy as np

    data = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    return "torch.max_pool-2", [data], {"kernel_size": [2, 2]}


@pytest.mark.needs("openvino")
def test_openvino_has_devices_and_precisions():
    made = load_backend("openvino?device=CPU&precision=bf16")
    assert environment_of(made)["INFERENCE_PRECISION_HINT"] == "bf16"
    assert same("openvino?precision=f32", "openvino", "AvgPool-1", only=("f32-1x1",))
    with pytest.raises(BackendError, match=r"device=FPGA: OpenVINO .* has no such") as caught:
        load_backend("openvino?device=FPGA")
    assert "it finds: CPU" in caught.value.hint


@pytest.mark.needs("onnxruntime")
def test_onnxruntime_has_providers():
    with pytest.raises(BackendError, match="provider=TensorrtExecutionProvider: this") as caught:
        load_backend("onnxruntime?provider=TensorrtExecutionProvider")
    assert "CPUExecutionProvider" in caught.value.hint
    op = "onnx.GlobalMaxPool-22"
    assert same("onnxruntime?provider=CPUExecutionProvider", "onnxruntime", op)
