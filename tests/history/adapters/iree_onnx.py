"""IREE's ONNX importer and CPU compiler: every vector becomes a module of one operator."""

from __future__ import annotations

import tempfile
from pathlib import Path

from conformance.backends import Capabilities, framework
from conformance.backends.onnx_model import model

OLDER = {"onnx.AveragePool-22": "onnx.AveragePool-19"}


class Iree:
    """IREE, compiled for the CPU."""

    name = "iree"
    marked = True
    capabilities = Capabilities(operators=("onnx.AveragePool-22",), dtypes=("f32",), ranks=(4,))

    def __init__(self) -> None:
        from importlib.metadata import version

        import iree.compiler as compiler
        import iree.runtime as runtime
        from iree.compiler.tools.import_onnx import __main__ as importer

        self.version = version("iree-base-compiler")
        self._compiler, self._runtime, self._importer = compiler, runtime, importer

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by the importer or the compiler."""
        made = model(OLDER[op], inputs, attributes)
        with tempfile.TemporaryDirectory() as folder:
            file, text = Path(folder) / "model.onnx", Path(folder) / "model.mlir"
            file.write_bytes(made)
            with framework():
                self._importer.main(self._importer.parse_arguments([str(file), "-o", str(text)]))
                binary = self._compiler.compile_str(
                    text.read_text(),
                    target_backends=["llvm-cpu"],
                    input_type="onnx",
                    extra_args=["--iree-llvmcpu-target-cpu=generic"],
                )
                module = self._runtime.load_vm_flatbuffer(binary, driver="local-sync")
                functions = module.vm_module.function_names
                name = next(one for one in functions if "$" not in one and one != "__init")
                result = getattr(module, name)(inputs[0])
                return [result.to_host()]
