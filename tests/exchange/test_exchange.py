"""What is exported and computed elsewhere is graded as a direct check is, vector for vector."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from conformance import api
from conformance.backends.numpy import NumPy
from conformance.cli import main
from conformance.errors import UsageError
from conformance.exchange.outputs import DeviceExecutor
from conformance.suite.npy import write_npy

CLIENTS = Path(__file__).parents[2] / "clients" / "c"
EXACTLY = {"INFERENCE_PRECISION_HINT": "f32"}
OPS = ("AvgPool-1", "AdaptiveMaxPool-8")
TYPES = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8"}
NAMES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "int32": "i32", "int64": "i64",
}  # fmt: skip


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def exported(out, layout, *more, ops=OPS):
    chosen = [word for op in ops for word in ("--op", op)]
    shown = invoked("export", "--format", layout, "--out", out, "--suite", "smoke", *chosen, *more)
    assert shown.exit_code == 0, shown.output
    return out


def introduced(folder, **other):
    told = {"name": "board", "version": "1", "nonce": index_of(folder)["nonce"], **other}
    (folder / "device.json").write_text(json.dumps(told))


def index_of(folder):
    return json.loads((folder / "index.json").read_text())


def list_of(words):
    return [int(next(words)) for _ in range(int(next(words)))]


def parsed(line):
    """A line of cases.txt, read without this package: number, operator, inputs, attributes."""
    words = iter(line.split())
    number, op = next(words), next(words)
    assert (next(words), int(next(words)) > 0, next(words)) == ("outputs", True, "inputs")
    inputs = [(next(words), list_of(words)) for _ in range(int(next(words)))]
    assert next(words) == "attributes"
    attributes = {}
    for _ in range(int(next(words))):
        name, kind = next(words), next(words)
        attributes[name] = (
            list_of(words) if kind == "ints"
            else next(words) if kind == "text"
            else bool(int(next(words))) if kind == "bool"
            else int(next(words))
        )  # fmt: skip
    assert list(words) == []
    return number, op, inputs, attributes


def raw_device(folder):
    """Fills an export of raw files, as a program would that knows only the document."""
    for line in (folder / "cases.txt").read_text().splitlines():
        number, op, inputs, attributes = parsed(line)
        place = folder / number
        arrays = []
        for i, (dtype, shape) in enumerate(inputs):
            array = np.fromfile(place / f"in{i}.bin", TYPES[dtype]).reshape(shape)
            arrays.append(array.view(ml_dtypes.bfloat16) if dtype == "bf16" else array)
        try:
            outputs = NumPy().run(op, arrays, attributes)
        except Exception as error:
            (place / "ending.txt").write_text(f"raised {type(error).__name__}: {error}\n")
            continue
        lines = []
        for i, array in enumerate(outputs):
            (place / f"out{i}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
            lines.append(" ".join(map(str, (NAMES[array.dtype.name], array.ndim, *array.shape))))
        (place / "out.txt").write_text("\n".join(lines) + "\n")
    introduced(folder)


def npy_device(folder):
    for one in index_of(folder)["cases"]:
        place = folder / f"{one['number']:06}"
        case = json.loads((place / "case.json").read_text())
        arrays = [np.load(place / f"in{i}.npy") for i in range(len(case["inputs"]))]
        arrays = [
            a.view(ml_dtypes.bfloat16) if dtype == "bf16" else a
            for a, dtype in zip(arrays, case["inputs"], strict=True)
        ]
        try:
            outputs = NumPy().run(case["op"], arrays, case["attributes"])
        except Exception as error:
            (place / "ending.txt").write_text(f"raised {type(error).__name__}: {error}\n")
            continue
        for i, array in enumerate(outputs):
            codes = array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array
            np.save(place / f"out{i}.npy", codes)
    introduced(folder)


def seen(run):
    """What a run says of each vector, but for the time that it took."""
    return [
        (one.op, one.id, one.status, one.kind, one.message, one.reading, one.known)
        for one in run.results
    ]


class TestRoundTrip:
    @pytest.mark.parametrize(("layout", "device"), [("raw", raw_device), ("npy", npy_device)])
    def test_outputs_from_files_are_judged_as_those_of_a_direct_check(
        self, tmp_path, layout, device
    ):
        folder = exported(tmp_path / "out", layout, "--backend", "numpy")
        device(folder)
        direct = api.check("smoke", NumPy(), ops=OPS)
        graded = api.check("smoke", DeviceExecutor(folder), ops=OPS)
        assert seen(graded) == seen(direct)
        assert graded.footer["exit_code"] == direct.footer["exit_code"]
        assert (graded.header["backend"]["name"], graded.header["options"]["executor"]) == (
            "board",
            "outputs",
        )

    def test_a_wrong_output_is_found_and_named_as_one(self, tmp_path):
        folder = exported(tmp_path / "out", "npy", "--backend", "numpy", ops=OPS[:1])
        npy_device(folder)
        for path in folder.glob("*/out0.npy"):
            array = np.load(path)
            if array.dtype == np.float32:
                np.save(path, array[..., :-1])
        shown = invoked(
            "check-outputs", folder, "--op", OPS[0], "--suite", "smoke", "--out", tmp_path / "r"
        )
        assert shown.exit_code == 1
        assert "wrong shape" in shown.output
        assert (tmp_path / "r" / "index.html").is_file()

    def test_what_a_device_does_not_declare_is_not_exported(self, tmp_path):
        file = tmp_path / "caps.json"
        file.write_text(json.dumps({"operators": ["AvgPool-1"], "dtypes": ["f32"]}))
        folder = exported(tmp_path / "out", "raw", "--capabilities", file)
        lines = (folder / "cases.txt").read_text().splitlines()
        assert lines
        assert {parsed(line)[1] for line in lines} == {"AvgPool-1"}
        assert {parsed(line)[2][0][0] for line in lines} == {"f32"}
        reasons = {reason for _, reason, _ in index_of(folder)["left_out"]}
        assert "f16 is not among the declared types" in reasons
        assert "AdaptiveMaxPool-8 is not among the declared operators" in reasons

    def test_answers_are_not_exported(self, tmp_path):
        folder = exported(tmp_path / "out", "npy")
        names = {path.name for path in folder.glob("*/*")}
        assert names <= {"case.json", "in0.npy", "in1.npy"}
        assert "expected" not in (folder / "index.json").read_text()


@pytest.mark.needs("cc")
def test_raw_files_are_read_by_a_program_in_c(tmp_path):
    program = tmp_path / "avgpool"
    words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined"]
    subprocess.run([*words, "-o", program, CLIENTS / "avgpool.c"], check=True)
    file = tmp_path / "caps.json"
    file.write_text(json.dumps({"operators": ["AvgPool-1"], "dtypes": ["f32"]}))
    out = tmp_path / "out"
    words = ["export", "--format", "raw", "--op", "AvgPool-1", "--capabilities", file, "--out", out]
    assert invoked(*words).exit_code == 0
    subprocess.run([program, out], check=True)
    shown = invoked("check-outputs", out, "--op", "AvgPool-1")
    assert shown.exit_code == 0, shown.output
    assert re.search(r"strength (99\.\d|100) %", shown.output)
    assert "avgpool.c 1.0" in shown.output


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A program that copies its inputs, built of the header without streams."""
    folder = tmp_path_factory.mktemp("files")
    source = folder / "copy.c"
    source.write_text(
        '#include "conformance.h"\n'
        "static int answer(cf_call *call, void *user)\n"
        "{\n"
        "    int i;\n"
        "    (void)user;\n"
        '    if (!strcmp(call->op, "refuses")) return cf_reject(call, "no");\n'
        '    if (cf_int(call, "n", 7) != 7 || !cf_is(call, "t", "", "x") || !cf_bool(call, "b", 0))'
        '        return cf_reject(call, "attributes");\n'
        "    for (i = 0; cf_input(call, i); i++) {\n"
        "        const cf_array *in = cf_input(call, i);\n"
        "        void *out = cf_output(call, in->dtype, in->rank, in->shape);\n"
        "        if (out) memcpy(out, in->data, in->bytes);\n"
        "    }\n"
        "    return CF_OK;\n"
        "}\n"
        "int main(int count, char **words)\n"
        '{ return count == 2 ? cf_serve_files(words[1], "c\\"", "1", answer, NULL) : 9; }\n'
    )
    words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{CLIENTS}"]
    words += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DCF_NO_STREAMS"]
    subprocess.run([*words, "-o", folder / "copy", source], check=True)
    return folder / "copy"


@pytest.mark.needs("cc")
class TestHeader:
    def answered(self, files, folder, line, **inputs):
        place = folder / "000001"
        place.mkdir(exist_ok=True)
        (folder / "index.json").write_text('{"suite": "s", "nonce": "06f0"}')
        (folder / "cases.txt").write_text(line)
        for name, data in inputs.items():
            (place / f"{name}.bin").write_bytes(data)
        done = subprocess.run([files, folder], capture_output=True, text=True, check=False)
        return done, {one.name: one.read_bytes() for one in place.glob("[oe]*")}

    def test_inputs_and_attributes_are_read_and_outputs_written(self, files, tmp_path):
        line = (
            "000001 op outputs 2 inputs 2 f32 1 2 i64 2 1 0 attributes 3 n int 7 t text - b bool 1"
        )
        done, found = self.answered(files, tmp_path, line, in0=b"12345678", in1=b"")
        assert (done.returncode, done.stderr) == (0, "")
        assert found == {
            "out0.bin": b"12345678",
            "out1.bin": b"",
            "out.txt": b"f32 1 2\ni64 2 1 0\n",
        }
        told = json.loads((tmp_path / "device.json").read_text())
        assert told == {"name": 'c"', "version": "1", "nonce": "06f0"}

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("text x", '"x"'),
            ("ints 2 3 4", "[3,4]"),
            ("int 1e3", "1e3"),
            ("number 0.5", "0.5"),
            ("numbers 2 0.5 1e-05", "[0.5,1e-05]"),
        ],
    )
    def test_an_attribute_of_another_kind_is_refused(self, files, tmp_path, value, shown):
        line = f"000001 op outputs 0 inputs 0 attributes 3 n {value} t text - b bool 1\n"
        done, found = self.answered(files, tmp_path, line)
        assert done.returncode == 0
        assert found == {"ending.txt": f"raised attribute n is {shown}, not an integer\n".encode()}

    def test_an_absent_input_has_no_file(self, files, tmp_path):
        line = "000001 op outputs 1 inputs 2 f32 1 2 absent attributes 2 t text - b bool 1\n"
        done, found = self.answered(files, tmp_path, line, in0=b"12345678")
        assert done.returncode == 0, done.stderr
        assert found == {"out0.bin": b"12345678", "out.txt": b"f32 1 2\n"}

    def test_an_old_ending_is_replaced(self, files, tmp_path):
        line = "000001 op outputs 0 inputs 0 attributes 2 t text - b bool 1\n"
        self.answered(files, tmp_path, line.replace(" op ", " refuses "))
        assert (tmp_path / "000001" / "ending.txt").read_text() == "raised no\n"
        _, found = self.answered(files, tmp_path, line)
        assert found == {"out.txt": b""}

    @pytest.mark.parametrize(
        "line",
        [
            "000001 op outputs 1 inputs 1 f33 1 2 attributes 0",
            "000001 op outputs 1 inputs 1 f32 17 1 attributes 0",
            "000001 op outputs 1 inputs 99 f32 1 1 attributes 0",
            "000001 op outputs 1 inputs 1 f32 2 9223372036854775807 9 attributes 0",
            "000001 op outputs 1 inputs 1 f32 1 3 attributes 0",
            "000001 op outputs 1 inputs 0 attributes 1 n float 1",
            "000001 op outputs 1 inputs 0 attributes 1 n ints 4 1",
            "000001 op outputs 1",
        ],
    )
    def test_a_line_that_cannot_be_read_ends_it(self, files, tmp_path, line):
        done, found = self.answered(files, tmp_path, line, in0=b"12345678")
        assert done.returncode == 2
        assert "the line of case 000001, or its files, cannot be read" in done.stderr
        assert found == {}


def test_a_link_to_itself_is_no_folder(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    shown = invoked("export", "--format", "raw", "--op", "AvgPool-1", "--out", loop)
    assert shown.exit_code == 2
    assert f"{loop}: the export cannot be written: File exists" in shown.output


class TestModels:
    @pytest.mark.needs("onnxruntime")
    def test_onnx(self, tmp_path, exhaustive):
        import onnxruntime

        ops = ("onnx.GlobalMaxPool-22", "onnx.AveragePool-22")
        only = ("f32-1x1x1", "f16-1x1x1") if exhaustive else ("f32-1x1x1x1",)
        chosen = [word for one in only for word in ("--only", one)]
        out = tmp_path / "out"
        words = ["--out", out, "--backend", "onnxruntime", *chosen]
        words += [word for op in ops for word in ("--op", op)]
        assert invoked("export", "--format", "onnx", *words).exit_code == 0
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        for place in sorted(out.glob("0*")):
            if (place / "ending.txt").exists():
                continue
            try:
                session = onnxruntime.InferenceSession(
                    str(place / "model.onnx"), options, providers=["CPUExecutionProvider"]
                )
                outputs = session.run(None, {"X": np.load(place / "in0.npy")})
            except Exception as error:
                told = f"raised {type(error).__name__}: {error}"
                (place / "ending.txt").write_text(told)
                continue
            for i, array in enumerate(outputs):
                np.save(place / f"out{i}.npy", array)
        introduced(out)
        direct = api.check(None, "onnxruntime", ops=ops, only=only, executor="inline")
        graded = api.check(None, DeviceExecutor(out), ops=ops, only=only)
        assert len(direct.results) > (100 if exhaustive else 20)
        assert [one[:4] for one in seen(graded)] == [one[:4] for one in seen(direct)]

    @pytest.mark.needs("openvino")
    def test_openvino(self, tmp_path, exhaustive):
        import openvino

        # It compiles each model, twice.
        ops = ("AdaptiveMaxPool-8", "AvgPool-1") if exhaustive else ("AdaptiveMaxPool-8",)
        only = ("f32-1x1x1", "f64-1x1") if exhaustive else ("f32-1x1x1x1",)
        chosen = [word for one in only for word in ("--only", one)]
        chosen += [word for op in ops for word in ("--op", op)]
        out = tmp_path / "out"
        words = ["--out", out, "--backend", "openvino", *chosen]
        assert invoked("export", "--format", "openvino-ir", *words).exit_code == 0
        core = openvino.Core()
        refused = 0
        for place in sorted(out.glob("0*")):
            if (place / "ending.txt").exists():
                refused += 1
                continue
            try:
                model = core.read_model(place / "model.xml")
                request = core.compile_model(model, "CPU", EXACTLY).create_infer_request()
                request.infer({0: np.load(place / "in0.npy")})
                for i in range(len(model.outputs)):
                    array = np.array(request.get_output_tensor(i).data)
                    np.save(place / f"out{i}.npy", array)
            except RuntimeError as error:
                (place / "ending.txt").write_text(f"raised {error}")
        assert refused > 0
        introduced(out)
        direct = api.check(None, "openvino", ops=ops, only=only, executor="inline")
        graded = api.check(None, DeviceExecutor(out), ops=ops, only=only)
        assert len(direct.results) > (50 if exhaustive else 10)
        assert [one[:4] for one in seen(graded)] == [one[:4] for one in seen(direct)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = exported(
        tmp_path_factory.mktemp("filled") / "out", "raw", "--backend", "numpy", ops=OPS[:1]
    )
    raw_device(folder)
    return folder


class TestWhatComesBack:
    """Everything in the folder is looked at before the run begins."""

    @pytest.fixture
    def folder(self, filled, tmp_path):
        return shutil.copytree(filled, tmp_path / "copy")

    def refused(self, folder):
        with pytest.raises(UsageError) as caught, DeviceExecutor(folder):
            pass
        assert caught.value.hint
        return caught.value.message

    @pytest.fixture
    def place(self, folder):
        return next(path.parent for path in sorted(folder.glob("*/out0.bin")))

    def test_nothing_is_refused_of_what_is_right(self, folder):
        with DeviceExecutor(folder) as outputs:
            assert outputs.identity.name == "board"

    @pytest.mark.parametrize(
        ("damage", "said"),
        [
            (lambda place: shutil.rmtree(place), "the folder is missing"),
            (
                lambda place: (place / "out0.bin").unlink(),
                "there are no outputs; expected: out0.bin",
            ),
            (lambda place: (place / "out.txt").unlink(), "there is no out0.bin with out.txt"),
            (lambda place: (place / "out0.bin").write_bytes(b"abc"), "out0.bin has 3 bytes; "),
            (
                lambda place: (place / "out1.bin").write_bytes(b""),
                "out0.bin, out1.bin; expected: out0",
            ),
            (
                lambda place: (place / "out.txt").write_text("f32 2 1"),
                "line 1 of out.txt is 'f32 2",
            ),
            (lambda place: (place / "out.txt").write_text("float 1 1"), "it looks like 'f32 4 1 3"),
            (lambda place: (place / "out.txt").write_text("f32 1 -1"), "line 1 of out.txt"),
            (lambda place: (place / "out.txt").write_text("f32 1 9" + "9" * 30), "line 1 of out"),
            (lambda place: (place / "ending.txt").write_text("fine"), "ending.txt begins with 'fi"),
            (lambda place: (place / "ending.txt").write_text(""), "ending.txt begins with ''"),
        ],
    )
    def test_what_is_missing_or_damaged_is_named(self, folder, place, damage, said):
        damage(place)
        message = self.refused(folder)
        assert place.name in message
        assert said in message

    def test_what_is_surplus_is_named(self, folder):
        (folder / "999999").mkdir()
        assert "999999: no case of this number was exported" in self.refused(folder)

    def test_outputs_of_another_export_are_refused(self, folder):
        introduced(folder, nonce="0123")
        assert "the outputs are of another export" in self.refused(folder)

    @pytest.mark.parametrize("name", ["index.json", "device.json"])
    @pytest.mark.parametrize(
        "text", [None, "", "[", "[]", "{}", "[" * 100_000, '{"export": 2}', '{"name": ""}']
    )
    def test_files_that_are_none_are_refused(self, folder, name, text):
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
        assert name in self.refused(folder)

    def test_a_long_list_of_problems_is_cut(self, folder):
        for place in folder.glob("0*"):
            shutil.rmtree(place)
        assert self.refused(folder).endswith("and more")

    def test_arrays_that_are_none_are_refused(self, folder, place):
        (place / "out.txt").unlink()
        (place / "out0.bin").unlink()
        np.save(place / "out0.npy", np.array([{}], object), allow_pickle=True)
        with pytest.raises(UsageError, match=r"a header that is not plain|holds elements of type"):
            api.check("smoke", DeviceExecutor(folder), ops=OPS[:1])

    def test_an_output_that_is_too_large_is_wrong_and_not_read(self, folder, place):
        (place / "out.txt").unlink()
        (place / "out0.bin").unlink()
        (place / "out0.npy").write_bytes(write_npy(np.zeros(1 << 19)))
        run = api.check("smoke", DeviceExecutor(folder), ops=OPS[:1])
        (wrong,) = [one for one in run.results if one.status.value in ("fail", "error")]
        assert wrong.message.startswith(("result: dtype f64", "result: shape (524288,)"))

    def test_another_selection_than_was_exported_is_an_error(self, folder):
        shown = invoked("check-outputs", folder, "--suite", "smoke", "--op", OPS[1])
        assert shown.exit_code == 2
        assert "is not in the export" in shown.stderr

    def test_crashes_of_a_device_are_told_as_such(self, folder, place):
        (place / "ending.txt").write_text("crashed the watchdog\x1b[31m fired\n")
        run = api.check("smoke", DeviceExecutor(folder), ops=OPS[:1])
        (wrong,) = [one for one in run.results if one.status.value == "error"]
        assert (wrong.kind, wrong.message) == ("crashed", "the watchdog?[31m fired")


def test_a_folder_that_is_not_empty_is_not_written_to(tmp_path):
    (tmp_path / "file").write_text("mine")
    shown = invoked("export", "--format", "raw", "--op", OPS[0], "--out", tmp_path)
    assert shown.exit_code == 2
    assert "is not empty" in shown.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"dtype": ["f32"]}', '{"dtypes": "f32"}'])
def test_a_declaration_that_is_none_is_refused(tmp_path, text):
    file = tmp_path / "caps.json"
    file.write_text(text)
    words = ["--op", OPS[0], "--capabilities", file, "--out", tmp_path / "out"]
    shown = invoked("export", "--format", "raw", *words)
    assert shown.exit_code == 2
    assert "looks like" in shown.stderr or "capabilities" in shown.stderr
    assert not (tmp_path / "out").exists()
