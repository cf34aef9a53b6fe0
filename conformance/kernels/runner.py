"""Runs one kernel of unknown origin: a program of the protocol in docs/protocol.md.

This file stands alone. It is copied beside the kernel and started there, so the kernel's process
holds no oracle, no specification and no expected value; it needs numpy, and torch for tensors. What
it checks by itself (inputs that were changed in a call or later, poisoned memory) finds honest
mistakes: a kernel shares its process and could undo it. What it cannot undo is that it never sees
an expected value.

    python runner.py KERNEL OP CONVENTION CLAIMS
"""

import ctypes
import errno
import importlib.util
import inspect
import json
import os
import struct
import sys
import time
import traceback
from collections import deque
from types import ModuleType
from typing import Any

import numpy as np

Header = dict[str, Any]

PREFIX = struct.Struct("<IQ")
CODES = {"f16": "<f2", "f32": "<f4", "f64": "<f8"} | {
    f"{letter}{8 * size}": f"<{letter}{size}" for letter in "iu" for size in (1, 2, 4, 8)
}
MESSAGE = 1000
ALLOWED = (
    " (at isolation level 1 a kernel may read Python and its packages, write into its temporary "
    "folder, and start processes; it has no sockets; docs/grade-kernel.md)"
)
BESIDE = 4096
"""Bytes before and after each input."""

FORMER = 16
"""Inputs of earlier calls that are looked at again."""

LARGE = 1 << 20
"""Bytes of such an input at most."""

PAUSE = 0.1
"""Seconds after the last call in which a thread of the kernel may give itself away."""

LATE_CODE = 97
"""The exit code if it did, as :mod:`conformance.kernels.jail` knows it."""

M_PERTURB = -6
"""glibc's mallopt: fill memory when it is allocated and freed."""

CONVENTIONS = ("arrays", "tensors", "module")
CLASSES = ("ModelNew", "Model")
"""Classes of KernelBench; the first one is the kernel, the other the one it is to replace."""


class Unusable(Exception):
    """A kernel file in which no convention finds a kernel; the text says what to do."""


class Unsupported(Exception):
    """The kernel has no parameter for what a case asks."""


def spelled(name: str) -> str:
    """A name of the document as a parameter of Python: ``exclude-pad`` is ``exclude_pad``."""
    return "".join(c if c.isalnum() else "_" for c in name)


def names_of(op: str) -> list[str]:
    """What a function that is the kernel of an operator may be called, best first."""
    base = op.partition("-")[0].rpartition(".")[2]
    return ["kernel", spelled(op), base, base.lower(), f"{base.lower()}_kernel_impl"]


def found(module: ModuleType, op: str, convention: str) -> tuple[Any, str]:
    """The kernel in a module and its convention. Raises Unusable."""
    own = vars(module)
    if convention in ("auto", "module"):
        for name in CLASSES:
            if inspect.isclass(own.get(name)):
                return own[name], "module"
        if convention == "module":
            raise Unusable(f"it defines no class {' or '.join(CLASSES)} with a method forward")
    for name in names_of(op):
        if callable(own.get(name)) and not inspect.isclass(own[name]):
            return own[name], _arrays(own[name], name, convention)
    ending = [n for n, v in own.items() if n.endswith("_kernel_impl") and callable(v)]
    if len(ending) == 1:
        return own[ending[0]], _arrays(own[ending[0]], ending[0], convention)
    raise Unusable(
        f"it defines no kernel: a class {CLASSES[0]} with a method forward, or a function called "
        f"{', '.join(names_of(op))} or NAME_kernel_impl"
    )


def _arrays(function: Any, name: str, convention: str) -> str:
    """Whether a function takes numpy arrays or tensors of torch."""
    if convention != "auto":
        return convention
    parameters = list(inspect.signature(function).parameters.values())
    annotated = str(parameters[0].annotation) if parameters else ""
    return "tensors" if name.endswith("_kernel_impl") or "Tensor" in annotated else "arrays"


class Meddled(BaseException):
    """The kernel changed what its caller owns; no exception that a kernel may raise."""


class Bound:
    """A kernel under a convention: ``run(inputs, attributes)`` takes and gives numpy arrays."""

    def __init__(self, kernel: Any, convention: str) -> None:
        self.kernel, self.convention = kernel, convention
        self._instance: tuple[str, Any, dict[str, Any]] | None = None
        if convention != "arrays":
            import torch

            self._torch = torch

    def run(self, inputs: Any, attributes: dict[str, Any]) -> Any:
        """Raises Unsupported, Meddled where attributes were changed, and what the kernel raises."""
        key = repr(sorted(attributes.items()))
        if self._instance is not None and self._instance[0] == key:
            own = self._instance[2]  # lists that it was made with
        else:
            own = {k: list(v) if isinstance(v, list) else v for k, v in attributes.items()}
        try:
            return self._run(list(inputs), own, key)
        finally:
            changed = [name for name, value in attributes.items() if own[name] != value]
            if changed:
                self._instance = None
                raise Meddled(f"the call changed {', '.join(changed)}, which is its caller's")

    def _run(self, given: list[Any], attributes: dict[str, Any], key: str) -> Any:
        if self.convention == "arrays":
            return self.kernel(*given, **_matched(self.kernel, attributes, len(given)))
        tensors = [self._tensor(one) for one in given]
        if self.convention == "tensors":
            returned = self.kernel(*tensors, **_matched(self.kernel, attributes, len(given)))
        else:
            if self._instance is None or self._instance[0] != key:
                made = self.kernel(**_matched(self.kernel, attributes, 0))
                self._instance = key, made, attributes
            with self._torch.no_grad():
                returned = self._instance[1](*tensors)
        plural = isinstance(returned, (list, tuple))
        return [self._array(one) for one in (returned if plural else [returned])]

    def _tensor(self, array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(array)

    def _array(self, value: Any) -> Any:
        if not isinstance(value, self._torch.Tensor):
            return value
        value = value.detach().cpu().contiguous()
        if value.dtype == self._torch.bfloat16:
            return value.view(self._torch.int16).numpy().view(_bf16())
        return value.numpy()


def _matched(kernel: Any, attributes: dict[str, Any], taken: int) -> dict[str, Any]:
    """The attributes as keyword arguments; ``taken`` parameters are filled by inputs."""
    parameters = inspect.signature(kernel).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return {spelled(name): value for name, value in attributes.items()}
    free = dict(list(parameters.items())[taken:])
    asked = {}
    for name, value in attributes.items():
        one = free.get(spelled(name))
        if one is None:
            raise Unsupported(f"the kernel has no parameter {spelled(name)}")
        if one.annotation in (int, "int") and isinstance(value, list):
            if len(set(value)) != 1:
                raise Unsupported(f"{spelled(name)} is one number for all axes, not {value}")
            value = value[0]
        asked[spelled(name)] = value
    return asked


def _bf16() -> Any:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


class Storage:
    """Memory for the inputs: the same as in the call before where a size is the same.

    Before and after each input lie bytes that no kernel may write. Inputs of earlier calls are
    kept a while, and looked at again.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Any] = {}
        self._former: deque[Any] = deque(maxlen=FORMER)
        self._beside = np.frombuffer(os.urandom(BESIDE), np.uint8)
        self._returned: dict[int, bytes] = {}

    def array(self, number: int, data: bytes, dtype: Any, shape: list[int]) -> Any:
        """A writable array with these elements."""
        kept = self._kept.get(number)
        if kept is None or kept.nbytes != len(data) + 2 * BESIDE:
            if kept is not None:
                kept[BESIDE:-BESIDE] = 0xFF  # who kept a reference sees no old data
                if kept.nbytes <= LARGE:
                    self._former.append(kept)
            kept = self._kept[number] = np.empty(len(data) + 2 * BESIDE, np.uint8)
            kept[:BESIDE] = kept[-BESIDE:] = self._beside
        own = kept[BESIDE:-BESIDE]
        own[:] = np.frombuffer(data, np.uint8)
        return own.view(dtype).reshape(shape)

    def returned(self) -> None:
        """A call has returned: what its inputs are now they have to stay."""
        self._returned = {n: one[BESIDE:-BESIDE].tobytes() for n, one in self._kept.items()}

    def late(self) -> str:
        """What was changed since, before the next call; empty if nothing was."""
        kept = self._kept.items()
        if any(one[BESIDE:-BESIDE].tobytes() != self._returned.get(n) for n, one in kept):
            return "an input was changed after its call had returned"
        return self.meddled()

    def meddled(self) -> str:
        """What no call may change and was changed, after a call; empty if nothing was."""
        every = [*self._kept.values(), *self._former]
        if not all(
            (part == self._beside).all() for one in every for part in (one[:BESIDE], one[-BESIDE:])
        ):
            return "memory before or after an input was written"
        if any((one[BESIDE:-BESIDE] != 0xFF).any() for one in self._former):
            return "an input of an earlier call was changed"
        return ""


class Poison:
    """Fills memory that a call will be given: with a byte, another one each time, or not at all.

    So elements that a kernel does not write are wrong, and a kernel that writes all of them only
    where it finds poison, or zeros, is wrong in the other calls.
    """

    def __init__(self) -> None:
        self._fill = getattr(ctypes.CDLL(None), "mallopt", None)

    def spread(self, sizes: set[int]) -> None:
        """Before a call: ``sizes`` are those of the arrays that it may allocate."""
        chance, byte = os.urandom(2)
        if chance % 3 == 0:
            byte = 0
        if self._fill is not None:
            # It fills with the complement; 0 turns it off.
            self._fill(M_PERTURB, byte ^ 0xFF if chance % 3 < 2 else 0)
        if chance % 3 == 2:
            return
        held: list[Any] = [np.empty(size, np.uint8) for size in sizes for _ in range(8)]
        for one in held:
            one[:] = byte

    def spoil(self, returned: list[Any]) -> None:
        """After a call whose outputs were sent: they are the caller's now."""
        for one in returned:
            if type(one) is np.ndarray and one.flags.writeable and not one.dtype.hasobject:
                one.view(np.ndarray)[...] = np.array(-1).astype(one.dtype)


def decoded(header: Header, payload: bytes, storage: Storage) -> list[Any]:
    """The inputs of a request."""
    inputs: list[Any] = []
    offset = 0
    for number, one in enumerate(header["inputs"]):
        dtype = _bf16() if one["dtype"] == "bf16" else np.dtype(CODES[one["dtype"]])
        size = dtype.itemsize * int(np.prod(one["shape"], dtype=np.int64))
        data = payload[offset : offset + size]
        inputs.append(storage.array(number, data, dtype, one["shape"]))
        offset += size
    return inputs


def encoded(returned: list[Any], limit: int) -> tuple[list[Header], bytes]:
    """What describes the outputs, and their bytes."""
    facts: list[Header] = []
    parts: list[bytes] = []
    for one in returned[:64]:
        if type(one) is not np.ndarray:
            facts.append({"type": type(one).__name__[:100], "dtype": "", "shape": None})
            continue
        name = {"bfloat16": "bf16"}.get(one.dtype.name) or f"{one.dtype.kind}{8 * one.itemsize}"
        swapped = ""
        if one.dtype.byteorder == ">":  # nothing is converted for a kernel
            name, swapped = one.dtype.str, name[:100]
        sent = (name in CODES or name == "bf16") and one.nbytes <= limit
        if sent:
            parts.append(one.tobytes())
        told = {"dtype": name[:100], "swapped": swapped, "shape": list(one.shape), "sent": sent}
        facts.append({"type": "array", **told})
    return facts, b"".join(parts)


def forms(inputs: list[Any]) -> list[tuple[Any, ...]]:
    """What a call could change of arrays besides their elements."""
    return [(one.shape, one.strides, one.dtype) for one in inputs]


def arithmetic() -> tuple[Any, ...]:
    """Results that depend on the rounding mode, and on whether subnormal numbers are flushed."""
    one, three, ten, least = (np.float64(number) for number in (1, 3, 10, 5e-324))
    # To the nearest, a third is rounded down and a tenth up.
    return one / three, -one / three, one / ten, -one / ten, least * one


def answer(
    bound: Bound,
    header: Header,
    payload: bytes,
    storage: Storage,
    poison: Poison,
    sizes: set[int],
) -> tuple[Header, bytes]:
    """The response to a request: header and payload; ``sizes`` are those of earlier outputs."""
    wrong = storage.late()
    inputs = decoded(header, payload, storage)
    before = [one.tobytes() for one in inputs]
    formed, usual = forms(inputs), arithmetic()
    poison.spread({*map(len, before), *sizes})
    told: Header = {"number": header["number"], "ending": "returned"}
    returned: Any = []
    parts = b""
    began = time.perf_counter()
    try:
        returned = bound.run(inputs, header["attributes"])
        told["seconds"] = time.perf_counter() - began
        returned = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        told["outputs"], parts = encoded(returned, header["limit"])
    except (Unsupported, NotImplementedError) as error:
        told["ending"], told["message"] = "unsupported", describe(error)
    except ImportError as error:
        told["ending"], told["message"] = "aborted", describe(error)
    except Exception as error:
        told["ending"], told["message"] = "raised", describe(error)
    except BaseException as error:
        told["ending"], told["message"] = "aborted", describe(error)
    after = [one.tobytes() for one in inputs]
    told["changed"] = [
        number
        for number, form in enumerate(forms(inputs))
        if after[number] != before[number] or form != formed[number]
    ]
    if arithmetic() != usual:
        wrong = "the call left another rounding mode, or flushes subnormals from now on"
    wrong = wrong or storage.meddled()
    storage.returned()
    if wrong:
        told["ending"], told["message"] = "aborted", wrong
        told.pop("outputs", None)
        parts = b""
    sizes.clear()
    sizes.update(one.nbytes for one in returned if type(one) is np.ndarray and one.nbytes < 1 << 24)
    poison.spoil(returned)
    return told, parts


def describe(error: BaseException) -> str:
    """An exception on one line; where the isolation may have caused it, what is allowed."""
    told = f"{type(error).__name__}: {error}".strip()[: MESSAGE - len(ALLOWED)]
    walls = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EAGAIN)
    return told + ALLOWED * (isinstance(error, OSError) and error.errno in walls)


class Stranger:
    """Keeps the package that grades out of the kernel's process, where it lies on its path."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        """An import that fails."""
        if name.partition(".")[0] == "conformance":
            raise ImportError("a kernel runs without the package that grades it")


def load(path: str, op: str, convention: str) -> tuple[ModuleType, Bound]:
    """The kernel in a file. Raises Unusable, and whatever its code raises."""
    name = os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
    spec = importlib.util.spec_from_file_location(spelled(name), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module, Bound(*found(module, op, convention))


def main() -> None:
    """Serve requests until there are no more."""
    path, op, convention, claims = sys.argv[1:5]
    del sys.argv[1:]
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a kernel prints is not an answer
    sys.meta_path.insert(0, Stranger)
    own = os.getpid()

    def send(header: Header, payload: bytes = b"") -> None:
        if os.getpid() != own:  # a copy of this process that the kernel made and let return
            os._exit(0)
        text = json.dumps(header).encode("ascii")
        view = memoryview(PREFIX.pack(len(text), len(payload)) + text + payload)
        while view:
            view = view[os.write(answers, view) :]

    try:
        module, bound = load(path, op, convention)
        declared = dict(getattr(module, "CAPABILITIES", {})) | json.loads(claims)
        capabilities = {**declared, "operators": [op]} if declared else None
        told = {"protocol": 1, "byte_order": "little", "capabilities": capabilities}
        facts = {"convention": bound.convention}
        # Who grades knows the file's name and digest, and takes neither from its process.
        send({"hello": {**told, "name": "kernel", "version": "unknown", "facts": facts}})
    except BaseException as error:
        hint = "see docs/grade-kernel.md for what a kernel file defines"
        if not isinstance(error, Unusable):
            hint = traceback.format_exc(limit=-1)[-MESSAGE:]
        send({"error": {"message": f"{os.path.basename(path)}: {describe(error)}", "hint": hint}})  # noqa: PTH119
        return
    storage, poison = Storage(), Poison()
    sizes: set[int] = set()
    served = False
    with os.fdopen(requests, "rb") as stream:
        while prefix := stream.read(PREFIX.size):
            lengths = PREFIX.unpack(prefix)
            header = json.loads(stream.read(lengths[0]))
            send(*answer(bound, header, stream.read(lengths[1]), storage, poison, sizes))
            served = True
    if served:
        time.sleep(PAUSE)
        if storage.late():  # nobody waits for an answer any more
            os._exit(LATE_CODE)


if __name__ == "__main__":
    main()
