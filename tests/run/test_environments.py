"""A backend in another virtual environment: what is graded there, what the log says, what fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import venvs

import conformance
from conformance.backends.discovery import resolve_adapter
from conformance.errors import BackendError, UsageError
from conformance.model import Status
from conformance.run.executor_options import Isolation, words

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX")

CRASHES = "import os\nos.abort()\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(scope="module")
def old(folder):
    return venvs.make(folder / "old", version="0.9", returned="[o + 1 for o in outputs]")


@pytest.fixture(scope="module")
def new(folder):
    return venvs.make(folder / "new", version="1.0")


@pytest.fixture(scope="module")
def bare(folder):
    return venvs.make(folder / "bare", lent=())


@pytest.fixture(scope="module")
def tiny(folder):
    return venvs.adapter(folder)


class TestAnotherVersion:
    def test_each_environment_is_graded_by_its_own(self, small_suite, tiny, old, new):
        runs = [conformance.check(small_suite, tiny, env=env) for env in (old, new)]
        assert [run.header["backend"]["version"] for run in runs] == ["0.9", "1.0"]
        assert [run.conformant for run in runs] == [False, True]
        counts = [[one.status for one in run.results] for run in runs]
        assert counts[0].count(Status.FAIL) == 4
        assert counts[1].count(Status.FAIL) == 0
        assert counts[0].count(Status.UNSUPPORTED) == counts[1].count(Status.UNSUPPORTED) == 1
        assert runs[0].header["options"]["env"] == str(old)
        assert f"--env {old}" in runs[0].findings[0].reproduce

    def test_this_environment_does_not_have_it(self, small_suite, tiny):
        with pytest.raises(BackendError, match="no module named 'tinylib'"):
            conformance.check(small_suite, tiny)

    def test_processes_for_what_else_runs_in_this_one(self, small_suite, new):
        run = conformance.check(small_suite, "numpy", env=new, jobs=2)
        assert run.conformant
        assert run.header["options"]["executor"] == "process"
        assert run.header["environment"]["packages"]["numpy"] == np.__version__

    def test_the_python_itself_may_be_named(self, small_suite, tiny, new):
        assert conformance.check(small_suite, tiny, env=new / "bin" / "python").conformant

    def test_what_is_told_of_packages_is_that_of_the_process(self, small_suite, folder):
        made = venvs.make(folder / "unpackaged")
        packages = next(made.glob("lib/python*/site-packages"))
        for info in packages.glob("numpy-*.dist-info"):
            info.unlink()
        run = conformance.check(small_suite, "numpy", env=made)
        assert run.header["environment"]["packages"]["numpy"] is None

    def test_nothing_of_this_environment_is_lent_but_the_package(self, small_suite, tmp_path, new):
        file = tmp_path / "curious.py"
        text = "import sys, yaml\ndef run(op, inputs, attributes): ...\n"
        file.write_text(text)
        with pytest.raises(BackendError, match="no module named 'yaml'"):
            conformance.check(small_suite, str(file), env=new)

    def test_the_folder_of_worker_modules_is_not_on_the_path(self, small_suite, tmp_path, new):
        file = tmp_path / "curious.py"
        file.write_text("import wire\ndef run(op, inputs, attributes): ...\n")
        with pytest.raises(BackendError, match="no module named 'wire'"):
            conformance.check(small_suite, str(file), env=new)


class TestWhatCannotBe:
    def refused(self, suite, backend, env):
        with pytest.raises((BackendError, UsageError)) as caught:
            conformance.check(suite, backend, env=env)
        assert caught.value.hint
        return caught.value

    @pytest.mark.parametrize("env", ["", "a\nb", "\x00", "x" * 300 + "\u202e"])
    def test_a_name_that_is_none(self, small_suite, env):
        error = self.refused(small_suite, "numpy", env)
        assert isinstance(error, UsageError)
        assert error.message.isprintable()

    def test_a_folder_that_is_not_there(self, small_suite, tmp_path):
        error = self.refused(small_suite, "numpy", tmp_path / "missing")
        assert "there is no environment" in error.message
        assert "python -m venv" in error.hint

    @pytest.mark.parametrize("kind", ["empty", "a file", "a folder as python"])
    def test_a_place_that_is_no_environment(self, small_suite, tmp_path, kind):
        place = tmp_path / "place"
        if kind == "a file":
            place.write_text("no program")
        else:
            (place / "bin" / "python" if kind != "empty" else place).mkdir(parents=True)
        assert "no virtual environment" in self.refused(small_suite, "numpy", place).message

    def test_one_without_numpy(self, small_suite, bare):
        error = self.refused(small_suite, "numpy", bare)
        assert f"in {bare}: there is no numpy and no ml_dtypes" in error.message
        assert "-m pip install numpy ml_dtypes" in error.hint

    def test_one_with_an_old_python(self, small_suite, folder):
        made = venvs.fake_python(folder / "aged", "3.8.10")
        error = self.refused(small_suite, "numpy", made)
        assert "its Python is 3.8.10, and a backend needs 3.11 or newer" in error.message

    def test_the_pretended_python_works_where_it_is_new_enough(self, small_suite, folder):
        made = venvs.fake_python(folder / "pretended", sys.version)
        assert conformance.check(small_suite, "numpy", env=made).conformant

    @pytest.mark.parametrize(
        "says", ["exit 3", "echo garbage; echo '\033[31mbad' >&2", "kill -9 $$"]
    )
    def test_a_program_that_is_no_python(self, small_suite, tmp_path, says):
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{says}\n")
        program.chmod(0o755)
        error = self.refused(small_suite, "numpy", program)
        assert "while the backend was loaded" in error.message
        assert all(line.isprintable() for line in error.message.splitlines())

    def test_a_file_that_cannot_be_executed_as_a_program(self, small_suite, tmp_path):
        program = tmp_path / "program"
        program.write_bytes(b"\x7fELF nothing")
        program.chmod(0o755)
        assert "no process could be started" in self.refused(small_suite, "numpy", program).message

    def test_a_backend_that_crashes_when_it_is_loaded(self, small_suite, tmp_path, new):
        (tmp_path / "crashes.py").write_text(CRASHES)
        error = self.refused(small_suite, str(tmp_path / "crashes.py"), new)
        assert f"in {new}: " in error.message
        assert "SIGABRT" in error.message

    def test_an_object_or_an_inline_run_has_no_other_environment(self, new):
        with pytest.raises(UsageError, match="env need processes"):
            Isolation("inline", env=str(new)).executor_for("numpy")
        with pytest.raises(UsageError, match="env need processes"):
            Isolation(env=str(new)).executor_for(object())


class TestNames:
    def test_adapters_of_this_package_are_found_by_their_place(self):
        assert resolve_adapter("numpy") == "conformance.backends.numpy:NumPy"

    @pytest.mark.parametrize("spec", ["unknown", "file.py:Mine", "package.module:thing"])
    def test_all_else_is_as_it_was_named(self, spec):
        assert resolve_adapter(spec) == spec

    def test_a_backend_that_is_registered_there_is_found_there(self, small_suite, folder):
        made = venvs.make(folder / "plugged", version="2.0")
        packages = next(made.glob("lib/python*/site-packages"))
        (packages / "tiny_backend.py").write_text(venvs.ADAPTER)
        info = packages / "tinylib-2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tinylib\nVersion: 2.0\n")
        (info / "entry_points.txt").write_text("[conformance.backends]\ntiny = tiny_backend:Tiny\n")
        run = conformance.check(small_suite, "tiny", env=made)
        assert (run.header["backend"]["version"], run.conformant) == ("2.0", True)

    def test_words_of_the_command(self):
        assert words("numpy", {"executor": "process", "env": "a b"})[-2:] == ["--env", "a b"]
        assert words("mine", {"executor": "process", "env": None}) == []


def test_home_is_understood(small_suite, new, monkeypatch):
    monkeypatch.setenv("HOME", str(Path(new).parent))
    assert conformance.check(small_suite, "numpy", env=f"~/{Path(new).name}").conformant


@pytest.mark.parametrize("module", ["conformance.run.worker", "conformance.repro.backend_source"])
def test_a_process_there_imports_nothing_that_is_not_asked_of_an_environment(module):
    absent = ("click", "hypothesis", "jsonschema_rs", "msgspec", "platformdirs", "yaml", "z3")
    code = f"import sys; sys.modules |= dict.fromkeys({absent}); import {module}"
    subprocess.run([sys.executable, "-c", code], check=True)
