"""How a backend is found, and what is said when it is not."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from conformance.backends.discovery import available, load_backend
from conformance.errors import BackendError
from conformance.run.executor_options import Isolation

BACKEND = """
    class {name}:
        name, version = "{name}", "1.0"
        def run(self, op, inputs, attributes):
            return [inputs[0] * 2]
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "mylib.py") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text))
        return path

    return write


def doubled(backend: Any) -> float:
    return float(backend.run("AvgPool-1", [np.ones(1)], {})[0][0])


def refused(spec: str) -> BackendError:
    with pytest.raises(BackendError) as caught:
        load_backend(spec)
    return caught.value


def test_a_class_in_a_file(write: Any) -> None:
    backend = load_backend(f"{write(BACKEND.format(name='Twice'))}:Twice")
    assert (backend.name, backend.version, doubled(backend)) == ("Twice", "1.0", 2)


def test_an_instance_in_a_file(write: Any) -> None:
    path = write(BACKEND.format(name="Twice") + "    backend = Twice()")
    assert doubled(load_backend(f"{path}:backend")) == 2
    assert doubled(load_backend(str(path))) == 2  # the class and its instance are one backend


def test_a_function_in_a_file_takes_its_files_name_and_version(write: Any) -> None:
    path = write(
        """
        __version__ = "2.1"
        def run(op, inputs, attributes):
            return [inputs[0] * 2]
        """
    )
    backend = load_backend(f"{path}:run")
    assert (backend.name, backend.version, doubled(backend)) == ("mylib", "2.1", 2)
    assert doubled(load_backend(str(path))) == 2


def test_a_module_on_the_path(write: Any, tmp_path: Path, monkeypatch: Any) -> None:
    write(BACKEND.format(name="Twice"), "found_by_module.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert doubled(load_backend("found_by_module:Twice")) == 2


def test_a_files_name_hides_no_other_module(write: Any) -> None:
    load_backend(str(write("import numpy\n" + dedent(BACKEND.format(name="Twice")), "numpy.py")))
    assert sys.modules["numpy"] is np


def test_a_file_is_read_anew(write: Any) -> None:
    path = write(BACKEND.format(name="First"))
    assert load_backend(str(path)).name == "First"
    write(BACKEND.format(name="Second"))
    assert load_backend(str(path)).name == "Second"


def test_names_that_are_registered() -> None:
    assert load_backend("numpy").name == "numpy"
    assert load_backend("reference").name == "reference"


def test_unknown_names_say_what_is_known() -> None:
    error = refused("openvno")
    assert error.message == "no backend is called 'openvno'"
    assert error.hint is not None
    assert error.hint.startswith(
        "did you mean 'openvino'? known: jax, litert, ncnn, numpy, "
        "onnx-reference, onnxruntime, openvino, reference, torch"
    )


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(f"{tmp_path}/none.py:x").message == f"no file {tmp_path}/none.py"


def test_a_missing_module_says_how_to_be_found() -> None:
    error = refused("no_such_package.adapter:MyLib")
    assert "no module named 'no_such_package'" in error.message
    assert error.hint is not None
    assert "PYTHONPATH" in error.hint


@pytest.mark.parametrize(("name", "framework"), [("openvino", "openvino"), ("torch", "torch")])
def test_a_missing_framework_names_the_command_that_installs_it(
    name: str, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, framework, None)
    error = refused(name)
    assert error.message == f"{name}: no module named '{framework}'"
    assert error.hint == f"pip install 'opconform[{framework}]'"


def test_a_missing_framework_in_a_users_file_names_file_and_line(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    path = write("x = 1\nimport torch\n")
    error = refused(str(path))
    assert error.message == f"{path}: {path}:2: no module named 'torch'"
    assert error.hint == "pip install 'opconform[torch]'"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("x = 1\ny = x / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("def run(:\n", 1, "SyntaxError"),
        ("def f():\n    int('a')\n\nf()\n", 2, "ValueError"),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError"),
    ],
)
def test_what_a_file_raises_is_shown_with_its_line(
    text: str, line: int, problem: str, write: Any
) -> None:
    path = write(text)
    error = refused(str(path))
    assert f"{path}:{line}: " in error.message
    assert problem in error.message


def test_what_a_class_raises_when_it_is_made_is_shown_with_its_line(write: Any) -> None:
    path = write(
        """\
        class Broken:
            name, version = "broken", "1"
            def __init__(self):
                raise OSError("no device")
            def run(self, op, inputs, attributes): ...
        """
    )
    assert refused(f"{path}:Broken").message.endswith(f"{path}:4: OSError: no device")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 3", "int has no method 'run'"),
        ("class x:\n    name, version = 'a', 'b'", "class x has no method 'run'"),
        ("class x:\n    name = 'a'\n    def run(self, op, inputs, attributes): ...", "'version'"),
        (
            "class x:\n    name, version = 3, 'b'\n    def run(self, op, inputs, attributes): ...",
            "'name' is 3, not a non-empty string",
        ),
        (
            "class x:\n    name, version, capabilities = 'a', 'b', {}\n"
            "    def run(self, op, inputs, attributes): ...",
            "'capabilities' is a dict",
        ),
    ],
)
def test_objects_that_are_no_backend(text: str, problem: str, write: Any) -> None:
    error = refused(f"{write(text)}:x")
    assert "not a backend" in error.message
    assert problem in error.message
    assert error.hint is not None


def test_a_misspelled_object_is_suggested(write: Any) -> None:
    error = refused(f"{write(BACKEND.format(name='MyLib'))}:MyLab")
    assert "there is no 'MyLab'" in error.message
    assert error.hint is not None
    assert "did you mean 'MyLib'?" in error.hint


def test_a_file_without_or_with_several_backends(write: Any) -> None:
    assert "defines no backend" in refused(str(write("x = 1"))).message
    path = write(dedent(BACKEND.format(name="One")) + dedent(BACKEND.format(name="Two")))
    error = refused(str(path))
    assert error.message == f"{path} defines 2 backends: One, Two"
    assert error.hint == f"name one of them: {path}:One"


def test_the_list_has_a_line_for_each_and_imports_no_framework() -> None:
    code = """
    import sys
    from conformance.backends.discovery import available
    rows = available()
    assert not {"torch", "openvino", "hypothesis"} & set(sys.modules), "a framework was imported"
    assert {"numpy", "openvino", "reference", "torch"} <= {row.name for row in rows}
    """
    subprocess.run([sys.executable, "-c", dedent(code)], check=True)
    assert all(row.summary.endswith(".") for row in available())


def test_the_list_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.backends import discovery

    monkeypatch.setattr(discovery, "_is_installed", lambda package: package != "torch")
    installed = {row.name: row.installed for row in available()}
    assert installed["torch"] is False
    assert installed["numpy"] is installed["reference"] is True


def test_a_file_is_a_module_that_can_be_imported_by_its_name(write: Any) -> None:
    path = write(BACKEND.format(name="Twice"), "pickled_by_name.py")
    backend = load_backend(str(path))
    assert type(backend).__module__ == "pickled_by_name"
    assert type(pickle.loads(pickle.dumps(backend))) is type(backend)
    again = load_backend(str(path))
    assert type(again).__module__ == "pickled_by_name"
    assert type(pickle.loads(pickle.dumps(again))) is type(again)


@pytest.mark.parametrize(
    "name", ["numpy.py", "json.py", "my-lib.py", "a.b.py", "7.py", "__main__.py"]
)
def test_a_name_that_is_taken_or_none_still_has_no_dot(write: Any, name: str) -> None:
    taken = sys.modules.get(Path(name).stem)
    backend = load_backend(str(write(BACKEND.format(name="Twice"), name)))
    module = type(backend).__module__
    assert "." not in module
    assert module != Path(name).stem
    assert type(pickle.loads(pickle.dumps(backend))) is type(backend)
    assert sys.modules.get(Path(name).stem) is taken


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    backends = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "of_one_name.py"
        file.write_text(
            f"version = '1'\nname = {folder!r}\nclass B:\n    name = name\n"
            "    version = version\n    def run(self, *question): ...\n"
        )
        backends.append(load_backend(str(file)))
    assert [backend.name for backend in backends] == ["one", "two"]
    assert len({type(backend).__module__ for backend in backends}) == 2


@pytest.mark.parametrize("spec", ["a\nb.py", "a\x1b[2J.py:run", "m\n:run", "\u202e", "a\udc80.py"])
def test_a_name_that_a_terminal_might_act_on_is_refused(spec: str) -> None:
    error = refused(spec)
    assert "cannot be printed" in error.message
    assert error.message.isascii()
    assert error.message.isprintable()
    assert error.hint


@pytest.mark.parametrize("executor", ["inline", "process"])
def test_a_module_in_the_current_folder(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    write(BACKEND.format(name="Twice"), f"found_here_{executor}.py")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    with Isolation(executor).executor_for(f"found_here_{executor}:Twice") as there:
        assert there.identity.name == "Twice"


def test_processes_that_it_starts_can_import_it(write: Any) -> None:
    """What multiprocessing does where it does not fork: import the module by its name."""
    text = """
        import multiprocessing

        def twice(array):
            return array * 2

        class Pooled:
            name, version = "pooled", "1"

            def run(self, op, inputs, attributes):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    return pool.map(twice, inputs)
        """
    path = write(text, "starts_processes.py")
    assert doubled(load_backend(f"{path}:Pooled")) == 2
