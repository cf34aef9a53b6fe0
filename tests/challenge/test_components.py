"""What a backend is made of: the same on another machine, another with one byte changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conformance.backends import components
from conformance.backends.components import (
    Component,
    ProcessSnapshot,
    composition_digest,
    is_fully_hashed,
    program_components,
    python_components,
)
from conformance.backends.discovery import load_backend
from conformance.run import messages, responses
from conformance.run.executor import Identity
from conformance.run.executor_options import Isolation
from conformance.run.framing import Malformed

ROOT = Path(__file__).parents[2]


def named(own: tuple[Component, ...]) -> list[tuple[str, str]]:
    return [(one.kind, one.name) for one in own]


def built(folder: Path, value: int) -> str:
    """A program that answers with a function of a library of its own; what names it."""
    library, program = folder / "libkernel.so", folder / "runner"
    (folder / "kernel.c").write_text(f"int kernel(void) {{ return {value}; }}\n")
    (folder / "main.c").write_text(
        "#include <stdio.h>\nint kernel(void);\n"
        "int main(void) { int k = kernel(); getchar(); return k; }\n"
    )
    shared = ("cc", "-shared", "-fPIC", "-o", library, folder / "kernel.c")
    linked = ("cc", "-o", program, folder / "main.c", library, f"-Wl,-rpath,{folder}")
    for words in (shared, linked):
        subprocess.run([str(word) for word in words], check=True)
    (folder / "weights.bin").write_bytes(b"weights")
    return f"exec:{program} --flag {folder / 'weights.bin'}"


def running(spec: str) -> components.Composition:
    words = spec.removeprefix("exec:").split()
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    try:
        while not any("libkernel" in path for path in components.mapped_files(process.pid)):
            os.sched_yield()
        return program_components(spec, process.pid)
    finally:
        process.kill()
        process.wait()


@pytest.mark.needs("cc")
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="libraries are told by /proc")
class TestAProgram:
    def test_is_its_file_its_arguments_and_its_libraries(self, tmp_path: Path) -> None:
        made = running(built(tmp_path, 1))
        assert named(made.pieces) == [
            ("argument", "--flag"),
            ("argument", "weights.bin"),
            ("file", "runner"),
            ("library", "libkernel.so"),
        ]
        assert is_fully_hashed(made.pieces)
        assert any(one.name.startswith("libc.so") for one in made.beside)

    def test_is_another_with_another_library(self, tmp_path: Path) -> None:
        (tmp_path / "one").mkdir()
        (tmp_path / "other").mkdir()
        one, other = (running(built(tmp_path / name, n)) for n, name in enumerate(("one", "other")))
        changed = {*one.pieces} ^ {*other.pieces}
        assert {piece.name for piece in changed} <= {"libkernel.so", "runner"}
        assert composition_digest(one.pieces) != composition_digest(other.pieces)


class TestAModule:
    def test_is_its_files_with_what_it_imports_beside_it(self, tmp_path: Path) -> None:
        package = tmp_path / "kernels_of_pieces"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "pool.py").write_text("VALUE = 1\n")
        (tmp_path / "backend_of_pieces.py").write_text(
            "from kernels_of_pieces import pool\n\n\ndef run(op, inputs, attributes): ...\n"
        )
        before = ProcessSnapshot.now()
        spec = f"{tmp_path / 'backend_of_pieces.py'}:run"
        load_backend(spec)
        made = python_components(f"{spec}?device=cpu", before)
        assert named(made.pieces) == [
            ("file", "backend_of_pieces.py"),
            ("file", "kernels_of_pieces/__init__.py"),
            ("file", "kernels_of_pieces/pool.py"),
            ("object", "run"),
            ("option", "device=cpu"),
        ]
        own = composition_digest(made.pieces)
        (package / "pool.py").write_text("VALUE = 2\n")
        assert composition_digest(python_components(f"{spec}?device=cpu", before).pieces) != own

    def test_leaves_out_what_belongs_to_python_and_to_this_package(self) -> None:
        with Isolation("process", hashed=True).executor_for("numpy") as executor:
            own, beside = executor.identity.pieces, executor.identity.beside
        assert own is not None
        assert named(own) == [
            ("file", "conformance/backends/numpy.py"),
            ("file", "conformance/backends/products.py"),
            ("object", "NumPy"),
        ]
        if Path("/proc/self/maps").exists():
            assert any("_multiarray_umath" in one.name for one in beside)

    @pytest.mark.needs("onnx-reference")
    @pytest.mark.exhaustive
    def test_is_its_distribution_with_an_adapter(self) -> None:
        with Isolation("process", hashed=True).executor_for("onnx-reference") as executor:
            own = executor.identity.pieces
        assert own is not None
        found = named(own)
        assert any(kind == "distribution" and name.startswith("onnx ") for kind, name in found)
        assert ("file", "conformance/backends/onnx_reference.py") in found
        assert not any(name.startswith("numpy ") for _, name in found)
        assert is_fully_hashed(own)


class TestADigest:
    def test_is_of_sorted_lines(self) -> None:
        one, other = Component("file", "a", "1" * 64), Component("option", "b=1", "0" * 64)
        assert (
            composition_digest([one, other])
            == composition_digest([other, one])
            != composition_digest([one])
        )

    def test_is_none_of_what_could_not_be_read(self) -> None:
        assert not is_fully_hashed([Component("library", "gone.so", "")])
        assert is_fully_hashed([])

    @pytest.mark.parametrize(
        "told",
        [
            "x",
            [1],
            [["file", "a"]],
            [["what", "a", ""]],
            [["file\n", "a", ""]],
            [["file", "\x1b[2J", ""]],
            [["file", "a" * 301, ""]],
            [["file", "a", "0" * 63]],
            [["file", "a", "0" * 64 + "\n"]],
            [["file", "a", "0" * 64, ""]],
        ],
        ids=str,
    )
    def test_of_a_worker_that_talks_nonsense(self, told: object) -> None:
        identity = Identity("a", "1", pieces=(Component("file", "a", "0" * 64),))
        sent = messages.encode_hello(identity)
        assert b'"pieces":[["file","a"' in sent
        hello = {"protocol": 1, "byte_order": "little", "name": "a", "version": "1"}
        good = responses.decode_hello({"hello": {**hello, "pieces": [["file", "a", "0" * 64]]}})
        assert good.pieces == identity.pieces
        with pytest.raises(Malformed, match="pieces"):
            responses.decode_hello({"hello": {**hello, "pieces": told}})
