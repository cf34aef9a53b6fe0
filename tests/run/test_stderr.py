"""The line of stderr in which a process says why it ended, whatever surrounds it."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.log.memory import ADVICE
from conformance.run.stderr import Stderr

ASAN = """\
=================================================================
==4242==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x55
READ of size 4 at 0x602000000018 thread T0
    #0 0x5581 in avg_pool /src/avgpool.h:61
    #1 0x5582 in answer /src/avgpool.c:44
SUMMARY: AddressSanitizer: heap-buffer-overflow /src/avgpool.h:61 in avg_pool
Shadow bytes around the buggy address:
  0x0c047fff7fb0: 00 00 00 00 00 00 00 00
==4242==ABORTING
"""
UBSAN = "k.c:31:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented\n"
TSAN = """\
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 at 0x7b by thread T1:
    #0 pool /src/k.cc:9
SUMMARY: ThreadSanitizer: data race /src/k.cc:9 in pool
"""
RUST = """\
thread 'main' panicked at src/main.rs:17:22:
index out of bounds: the len is 9 but the index is 9
stack backtrace:
   0: rust_begin_unwind
   1: core::panicking::panic_fmt
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
GO = """\
panic: runtime error: index out of range [9] with length 9

goroutine 1 [running]:
main.pool(...)
\t/src/main.go:12
exit status 2
"""
NODE = """\
/src/runner.mjs:30
    throw new RangeError("offset is out of bounds");
    ^

RangeError: offset is out of bounds
    at pool (file:///src/runner.mjs:30:11)
    at main (file:///src/runner.mjs:47:3)

Node.js v20.11.0
"""
PYTHON = """\
Traceback (most recent call last):
  File "/src/runner.py", line 9, in <module>
    pool(data)
  File "/src/runner.py", line 4, in pool
    return data[9]
IndexError: list index out of range
"""
JAVA = """\
Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 9 out of bounds
\tat Runner.pool(Runner.java:9)
\tat Runner.main(Runner.java:4)
"""
CPP = """\
terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check: __n (which is 9) >= this->size() (which is 9)
"""
SAID = {
    "ASan": (ASAN, "SUMMARY: AddressSanitizer: heap-buffer-overflow /src/avgpool.h:61 in avg_pool"),
    "UBSan": (UBSAN, UBSAN.strip()),
    "TSan": (TSAN, "SUMMARY: ThreadSanitizer: data race /src/k.cc:9 in pool"),
    "Rust": (
        RUST,
        "thread 'main' panicked at src/main.rs:17:22: index out of bounds: the len is 9 but the "
        "index is 9",
    ),
    "Go": (GO, "panic: runtime error: index out of range [9] with length 9"),
    "Node": (NODE, "RangeError: offset is out of bounds"),
    "Python": (PYTHON, "IndexError: list index out of range"),
    "Java": (JAVA, JAVA.splitlines()[0]),
    "C++": (CPP, " ".join(line.strip() for line in CPP.splitlines())),
    "glibc": ("malloc(): corrupted top size\n", "malloc(): corrupted top size"),
    "stack": ("*** stack smashing detected ***: terminated\n",) * 2,
    "assert": ("a.out: k.c:3: pool: Assertion `n > 0' failed.\nAborted\n",) * 2,
    "own": ("starting\nerror: no device\ndone\n", "error: no device"),
    "plain": ("starting\nready\n", "ready"),
}


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("piece", [1 << 20, 7])
def test_the_decisive_line_is_found(language, piece):
    text, decisive = SAID[language]
    noise = "loading weights\n" * 3
    after = "" if language in ("plain", "own") else "cleaning up\n" * 5000
    stderr, data = Stderr(), (noise + text + after).encode()
    for start in range(0, len(data), piece):
        stderr.feed(data[start : start + piece])
    assert stderr.decisive() == decisive.splitlines()[0]


def test_it_is_one_line_of_bounded_length():
    stderr = Stderr()
    stderr.feed(b"panic: \x1b[31m\r" + b"x" * 1_000_000 + b"\x00")
    assert len(stderr.decisive()) <= 320
    assert stderr.decisive().isprintable()
    assert stderr.decisive().startswith("panic: \\x1b[31m")


def checked(program, tmp_path):
    words = ["check", "--backend", f"exec:{shlex.quote(str(program))}", "--op", "AvgPool-1"]
    words += ["--suite", "smoke", "--out", str(tmp_path / "out")]
    shown = CliRunner().invoke(main, words)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    return " ".join(shown.output.split()), page


CRASHING = """
#include "conformance.h"
static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0);
    volatile float *elements = (float *)data->data;
    (void)user;
    elements[data->count] = 1;
    abort();
}
int main(void)
{
    return cf_serve("crashes", "1",
        "{\\"operators\\": [\\"AvgPool-1\\"], \\"dtypes\\": [\\"f32\\"]}", answer, NULL);
}
"""


@pytest.mark.needs("cc")
@pytest.mark.parametrize("sanitized", [True, False])
def test_damaged_memory_is_told(sanitized, tmp_path, request):
    header = request.config.rootpath / "clients" / "c"
    (tmp_path / "crash.c").write_text(CRASHING)
    more = ["-fsanitize=address", "-g"] if sanitized else []
    made = ["cc", f"-I{header}", "-o", "crash", "crash.c", *more]
    if subprocess.run(made, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("no sanitizer is installed")
    shown, page = checked(tmp_path / "crash", tmp_path)
    found = "stderr says: SUMMARY: AddressSanitizer: heap-buffer-overflow"
    assert (found in shown, found in page) == (sanitized, sanitized)
    assert (ADVICE in shown, ADVICE in page) == (not sanitized, not sanitized)


def test_a_runner_in_python_says_what_it_raised(tmp_path):
    runner = tmp_path / "runner.py"
    runner.write_text(f"#!{sys.executable}\nimport nothing_of_this_name\n")
    runner.chmod(0o755)
    words = ["check", "--backend", f"exec:{runner}", "--op", "AvgPool-1"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 2
    assert "says: ModuleNotFoundError: No module named 'nothing_of_this_name'" in shown.output
