"""Damaged and hostile suites, specifications and run logs, as a user meets them.

Each is refused by the command line with an error that names the file, with exit code 2, within a
limit of memory and of time. Nothing in them is run.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiers
import tiny
from click.testing import CliRunner

if sys.platform == "win32":
    pytest.skip("POSIX processes and limits", allow_module_level=True)

from forked import MEMORY, Ended, command

from conformance.cli import main
from conformance.errors import EXIT_INCONCLUSIVE, EXIT_USAGE
from conformance.resources import directory

MIB = 2**20
INLINE = ("--executor", "inline")
"""What is damaged never comes as far as a backend."""
Document = dict[str, Any]


def refused(ended: Ended, *says: str, within: float = 10.0) -> None:
    assert ended.code == EXIT_USAGE, ended
    text = ended.stderr + ended.stdout
    for words in says:
        assert words in text
    assert "Traceback" not in text
    assert "defect" not in text
    assert len(text) < 100_000
    assert all(c.isprintable() or c == "\n" for c in text)
    assert ended.seconds < within


@pytest.fixture(scope="module", autouse=True)
def prepared(small_suite: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Modules, specifications and mutants, made once for all processes that are forked; and a log
    of a sound run."""
    folder, spec = tmp_path_factory.mktemp("sound"), directory("specs") / "AvgPool-1.yaml"
    log, suite = folder / "run.jsonl", small_suite.path
    check = ("check", "--backend", "numpy", "--suite", suite, "--level", "should", *INLINE)
    for words in (
        (*check, "--out", folder),
        ("report", log),
        ("suite", "lint", suite),
        ("spec", "lint", spec),
    ):
        ran = CliRunner().invoke(main, list(map(str, words)))
        assert ran.exit_code in (0, 1), ran.output
    return log


class TestTheLimitsHold:
    """What the tests below rely on: that a command which takes too much is stopped."""

    def test_of_memory(self) -> None:
        def greedy() -> None:
            kept = bytearray(2 * MEMORY)
            raise AssertionError(len(kept))

        ended = command("--version", before=greedy)
        assert ended.code == 99
        assert "MemoryError" in ended.stderr

    def test_and_a_sound_command_stays_within_them(self, small_suite: Any) -> None:
        ended = check(small_suite.path)
        assert ended.code == 0, ended


# Suites


@pytest.fixture
def suite(small_suite: Any, tmp_path: Path) -> Path:
    shutil.copytree(small_suite.path, tmp_path / "suite")
    return tmp_path / "suite"


def check(suite: Path) -> Ended:
    return command("check", "--backend", "reference", "--suite", suite, *INLINE)


def refused_suite(suite: Path, *says: str) -> None:
    refused(check(suite), *says)


def first(suite: Path) -> Path:
    entry = json.loads((suite / "manifest.json").read_bytes())["vectors"][0]
    return suite / entry["op"] / f"{entry['id']}.npz"


def edited(suite: Path, change: Callable[[Document], object]) -> Path:
    file = suite / "manifest.json"
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))
    return suite


def replaced(suite: Path, content: bytes) -> Path:
    """The suite with another content of its first file, which the manifest vouches for."""
    file = first(suite)
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return edited(suite, lambda d: d["vectors"][0].update(bytes=len(content), sha256=digest))


def repacked(suite: Path, **members: bytes) -> Path:
    """The suite with some members of its first file replaced, vouched for by the manifest."""
    with zipfile.ZipFile(first(suite)) as archive:
        content = {info.filename: archive.read(info) for info in archive.infolist()}
    content.update({name.replace("__", "."): data for name, data in members.items()})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return replaced(suite, buffer.getvalue())


def forbidden(path: Path, most: int) -> bytes:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


class TestSuites:
    def test_a_manifest_that_is_a_folder(self, suite: Path) -> None:
        (suite / "manifest.json").unlink()
        (suite / "manifest.json").mkdir()
        refused(check(suite), "manifest.json: cannot be read: Is a directory", "its permissions")

    def test_a_manifest_of_somebody_else(
        self, suite: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("conformance.remote.read_head", forbidden)
        refused(check(suite), "manifest.json: cannot be read: Permission denied")

    def test_a_flipped_bit_in_any_file(self, suite: Path) -> None:
        """At the beginning of one, within the next, at the end of the next, and so on."""
        for number, file in enumerate(sorted(suite.rglob("*.npz"))):
            content = file.read_bytes()
            flipped = bytearray(content)
            flipped[(0, len(content) // 3, -1)[number % 3]] ^= 0x10
            file.write_bytes(flipped)
            refused_suite(suite, file.name, "hint: ")
            file.write_bytes(content)
        assert check(suite).code == 0

    def test_a_flipped_bit_in_the_manifest(self, suite: Path) -> None:
        """Each is refused, or is in a text that no vector is asked by."""
        file = suite / "manifest.json"
        whole = file.read_bytes()
        refusals = 0
        for at in range(0, len(whole), len(whole) // 12):
            flipped = bytearray(whole)
            flipped[at] ^= 1
            file.write_bytes(flipped)
            ended = check(suite)
            # What a suite says of its strength is part of no digest; less of it is no claim.
            assert ended.code in (0, EXIT_USAGE, EXIT_INCONCLUSIVE), ended
            refusals += ended.code == EXIT_USAGE
        assert refusals > 6

    def test_a_truncated_file(self, suite: Path) -> None:
        file = first(suite)
        whole = file.read_bytes()
        for length in (0, 1, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:length])
            refused_suite(suite, file.name, f"{length:,} found")

    def test_a_truncated_file_that_the_manifest_vouches_for(self, suite: Path) -> None:
        file = first(suite)
        whole = file.read_bytes()
        for length in (0, 1, len(whole) // 2, len(whole) - 1):
            refused_suite(replaced(suite, whole[:length]), file.name, "not a readable zip archive")

    def test_a_pickled_member_is_never_loaded(self, suite: Path, tmp_path: Path) -> None:
        class Trap:
            def __reduce__(self) -> Any:
                return os.mkdir, (str(tmp_path / "sprung"),)

        header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
        header = header.ljust(117) + b"\n"
        pickled = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        refused_suite(
            repacked(suite, input_0__npy=pickled + pickle.dumps([Trap()])),
            "member 'input_0.npy' holds elements of type '|O'",
        )
        assert not (tmp_path / "sprung").exists()

    def test_a_zip_bomb(self, suite: Path) -> None:
        """A quarter of a gigabyte in a quarter of a megabyte, and the manifest says so too."""
        repacked(suite, input_0__npy=bytes(250 * MIB))
        assert first(suite).stat().st_size < MIB
        refused_suite(suite, "bytes unpacked, at most")
        refused(command("suite", "lint", suite), "bytes unpacked, at most")

    def test_a_zip_bomb_within_the_limit(self, suite: Path) -> None:
        refused_suite(repacked(suite, input_0__npy=bytes(50 * MIB)), "input_0.npy")

    @pytest.mark.parametrize("value", tiers.first([b"[],", b"{},", b"0,", b'"",']))
    def test_a_bomb_of_json(self, suite: Path, value: bytes) -> None:
        """Few bytes in the archive, tens of millions of values to parse."""
        text = b'{"format":1,"x":[' + value * (50 * MIB // len(value)) + b"0]}"
        refused_suite(repacked(suite, case__json=text), "case.json: more than 1048576 bytes")

    def test_a_bomb_that_declares_little(self, suite: Path) -> None:
        repacked(suite, input_0__npy=bytes(50 * MIB))
        content = bytearray(first(suite).read_bytes())
        size = struct.pack("<I", 50 * MIB)
        while (at := content.find(size)) >= 0:
            content[at : at + 4] = struct.pack("<I", 128)
        refused_suite(replaced(suite, bytes(content)), first(suite).name)

    def test_an_archive_of_a_million_entries(self, suite: Path) -> None:
        entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, *(0,) * 8, 5, *(0,) * 6)
        directory = (entry + b"a.npy") * 600_000
        end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)
        refused_suite(replaced(suite, directory + end), f"a directory of {len(directory)} bytes")

    @pytest.mark.parametrize(
        "shape", ["(99999999999,)", "(2147483647, 2147483647)", "(65536, 65536, 65536, 65536)"]
    )
    def test_a_header_that_claims_a_huge_array(self, suite: Path, shape: str) -> None:
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
        text = header.ljust(117).encode() + b"\n"
        array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(16)
        refused_suite(repacked(suite, input_0__npy=array), "bytes of elements and holds 16")

    def test_a_case_that_claims_a_huge_array(self, suite: Path) -> None:
        with zipfile.ZipFile(first(suite)) as archive:
            case = json.loads(archive.read("case.json"))
        case["shapes"] = {name: [2**40] * 3 for name in case["shapes"]}
        refused_suite(repacked(suite, case__json=json.dumps(case).encode()), "case.json")

    @pytest.mark.parametrize(
        "name", ["../../evil.npy", "/tmp/evil.npy", "..\\evil.npy", "a/../../evil.npy"]
    )
    def test_a_member_that_climbs_out(self, suite: Path, name: str) -> None:
        refused_suite(repacked(suite, **{name: b""}), "a name that is not allowed")

    @pytest.mark.parametrize("name", ["../evil", "/etc/passwd", ".", "\x1b[2J", ""])
    @pytest.mark.parametrize("key", ["id", "op"])
    def test_a_path_that_climbs_out(self, suite: Path, key: str, name: str) -> None:
        edited(suite, lambda d: d["vectors"][0].update({key: name}))
        refused_suite(
            suite, "is not printable text" if "\x1b" in name else "Expected `str` matching"
        )

    def test_a_link_that_climbs_out(self, suite: Path, tmp_path: Path) -> None:
        file = first(suite)
        file.rename(tmp_path / "outside.npz")
        file.symlink_to(tmp_path / "outside.npz")
        refused_suite(suite, "a symbolic link that leaves the suite's folder")

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (
                lambda d: d["counts"]["AvgPool-1"].update(value=99),
                "counts stated for AvgPool-1",
            ),
            (lambda d: d["counts"].update({"No-1": {"value": 1, "reject": 0}}), "of No-1"),
            (lambda d: d["counts"].clear(), ": nothing, not 3 with values and 1"),
            (lambda d: d["edges"].clear(), "'edges' holds"),
            (lambda d: d["vectors"].pop(), "1 with values and 1 to be rejected"),
            (lambda d: d["vectors"].append(d["vectors"][0]), "listed more than once"),
            (lambda d: d["vectors"][0].update(bytes=2**50), "at most"),
            (lambda d: d["vectors"][0].update(bytes=1), "1 byte expected"),
            (lambda d: d["vectors"][0].update(bytes=-1), "vectors[0].bytes: Expected `int` >= 0"),
            (lambda d: d["vectors"][0].update(sha256="0" * 64), "is not the one"),
            (lambda d: d["vectors"][0].update(level="should"), "describes the vector otherwise"),
            (lambda d: d.update(withdrawn={"nobody": "why"}), "which is not listed"),
        ],
    )
    def test_wrong_counts_sizes_and_digests(
        self, suite: Path, change: Callable[[Document], object], says: str
    ) -> None:
        refused_suite(edited(suite, change), says)

    def test_half_a_manifest(self, suite: Path) -> None:
        file = suite / "manifest.json"
        whole = file.read_bytes()
        for length in (0, 1, len(whole) // 2, len(whole) - 3):
            file.write_bytes(whole[:length])
            refused_suite(suite, "not readable as JSON")

    @pytest.mark.parametrize(
        ("format_", "says"),
        [(2, "reads formats up to 1"), (0, "'format' is not 1"), ("1", "not 1")],
    )
    def test_an_unknown_version(self, suite: Path, format_: object, says: str) -> None:
        refused_suite(edited(suite, lambda d: d.update(format=format_)), says)

    def test_an_unknown_version_of_a_vector(self, suite: Path) -> None:
        with zipfile.ZipFile(first(suite)) as archive:
            case = json.loads(archive.read("case.json")) | {"format": 7, "surprise": []}
        refused_suite(
            repacked(suite, case__json=json.dumps(case).encode()), "format 7; this is opconform"
        )

    def test_an_empty_folder_and_none(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        refused_suite(tmp_path / "empty", "no manifest.json, so not a suite", "hint: ")
        refused_suite(tmp_path / "none", "no such folder", "hint: ")

    def test_a_missing_and_an_unlisted_file(self, suite: Path) -> None:
        file = first(suite)
        shutil.copy(file, file.with_name("other.npz"))
        refused_suite(suite, "does not list", "other.npz")
        file.unlink()
        refused_suite(suite, "listed files missing", file.name)

    @pytest.mark.parametrize("value", tiers.first([b"0,", b"[],", b'"x",']))
    def test_a_manifest_of_millions_of_values(self, suite: Path, value: bytes) -> None:
        text = b'{"format":1,"x":[' + value * (MIB // len(value)) + b"0]}"
        (suite / "manifest.json").write_bytes(text)
        refused_suite(suite, "manifest.json: Object contains unknown field `x`")

    def test_a_manifest_that_is_too_large(self, suite: Path) -> None:
        (suite / "manifest.json").write_bytes(b" " * (65 * MIB))
        refused_suite(suite, "more than 67108864 bytes")

    @pytest.mark.parametrize(
        "depth",
        tiers.sweep([17, 500, *range(940, 1000, 4), 100_000], lambda depth: [depth // 100]),
    )
    def test_deep_nesting(self, suite: Path, depth: int) -> None:
        """Also where it could just be parsed, but not shown any more."""
        nested = b"[" * depth + b"]" * depth
        with zipfile.ZipFile(first(suite)) as archive:
            case = archive.read("case.json")
        case = case.replace(b'"attributes": {}', b'"attributes": {"a": ' + nested + b"}", 1)
        refused_suite(repacked(suite, case__json=case), "not readable as JSON")
        whole = (suite / "manifest.json").read_bytes()
        (suite / "manifest.json").write_bytes(whole.replace(b'"small"', nested, 1))
        refused_suite(suite, "nested more than 16 deep")


# Specifications


def lint(folder: Path, content: str | bytes) -> Ended:
    file = folder / "Tiny-1.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return command("spec", "lint", file)


def lines(text: str, number: int) -> str:
    return "".join(text.format(i=i, j=i + 1) for i in range(number))


LET = tiny.TEXT + "let:\n"

SPECS: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "the file is empty"),
    ("truncated", tiny.TEXT[: tiny.TEXT.index("]")], "this is not YAML"),
    ("binary", bytes(range(256)), "not UTF-8 text"),
    ("zeros", bytes(1000), "is not allowed"),
    ("a flipped bit", tiny.TEXT.encode().replace(b"define", b"degine"), "'degine' is not known"),
    (
        "a bomb of aliases",
        "a: &a [x, x]\n" + lines("b{i}: &b{i} [*a, *a]\n", 50),
        "anchors and aliases are not allowed",
    ),
    ("a bomb of anchors", "&a " * 60_000, "anchors and aliases are not allowed"),
    ("code in a tag", 'a: !!python/object/apply:os.mkdir ["sprung"]', "tags are not allowed"),
    ("deep lists", "x: " + "[" * 90_000, "nested more than 20 deep"),
    ("deep tables", "x: " + "{a: " * 40_000, "nested more than 20 deep"),
    ("deep blocks", "- " * 90_000, "nested more than 20 deep"),
    ("deep keys", "? " * 90_000, "a key is one word"),
    ("a long number", tiny.TEXT.replace("min: 2", "min: " + "9" * 190_000), "a whole number"),
    ("a huge number", tiny.TEXT.replace("min: 2", "min: 999999999999999999"), "no drawn case"),
    ("a line of 100 MB", "summary: " + "x" * 100_000_000, "the file is too large"),
    ("a long list", tiny.TEXT + "extra: [" + "a, " * 60_000 + "a]\n", "more than 5000 parts"),
    ("many keys", tiny.TEXT + lines("k{i}: 1\n", 15_000), "more than 5000 parts"),
    ("one key many times", tiny.TEXT + "a: 1\n" * 30_000, "is given twice"),
    ("many wrong entries", LET + lines("  e{i}: nope\n", 190), "unknown name 'nope'"),
    ("many definitions", LET + lines("  e{i}: 1\n", 4_000), "at most 200 entries"),
    ("a long chain", LET + lines("  e{i}: e{j}\n", 190) + "  e190: 1\n", "nothing speaks of 'e0'"),
    ("a circle", LET + "  a: b\n  b: c\n  c: a\n", "unknown name 'b'"),
    ("many documents", "--- 1\n" * 30_000, "a second document"),
    ("newlines only", "\n" * 190_000, "the file is empty"),
    ("a deep expression", LET + "  a: " + "-" * 1900 + "2\n", "nested too deeply"),
    ("many brackets", LET + "  a: " + "(" * 900 + "2" + ")" * 900 + "\n", "no expression"),
    ("a long expression", LET + "  a: " + "1 + " * 40_000 + "1\n", "the expression is too long"),
    ("a power", LET + "  a: 9 ** 9 ** 9\nrequire: {x: a > step}\n", "no drawn case"),
    ("a power of elements", tiny.TEXT.replace(" / 2", " ** 99999999"), "an exponent of 99999999"),
    ("an attribute", LET + "  a: size.__class__\n", "values have no attributes"),
    ("a call", LET + "  a: __import__('os')\n", "unknown function '__import__'"),
]


class TestSpecifications:
    @pytest.mark.parametrize(
        ("content", "says"), [row[1:] for row in SPECS], ids=[row[0] for row in SPECS]
    )
    def test_is_refused_with_a_place(
        self, tmp_path: Path, content: str | bytes, says: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        refused(lint(tmp_path, content), "Tiny-1.yaml:", says)
        assert not (tmp_path / "sprung").exists()

    def test_a_sound_one_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "AvgPool-1.yaml").write_bytes(
            (directory("specs") / "AvgPool-1.yaml").read_bytes()
        )
        assert command("spec", "lint", tmp_path / "AvgPool-1.yaml").code == 0

    def test_other_commands_refuse_it_too(self, tmp_path: Path) -> None:
        file = tmp_path / "Tiny-1.yaml"
        file.write_text("a: &a [x]\nb: *a\n")
        out = tmp_path / "out"
        refused(command("generate", "--op", file, "--out", out), "anchors and aliases")
        assert not out.exists()

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        refused(command("spec", "lint", tmp_path / "none.yaml"), "none.yaml: no such file")


# Run logs


@pytest.fixture(scope="module")
def whole(prepared: Path) -> bytes:
    return prepared.read_bytes()


def in_result(whole: bytes, **changes: Any) -> bytes:
    """The log with a change of its second result."""
    rows = whole.splitlines(keepends=True)
    rows[2] = json.dumps(json.loads(rows[2]) | changes, separators=(",", ":")).encode() + b"\n"
    return b"".join(rows)


LOGS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("empty", lambda _: b"", "no header"),
    ("half a header", lambda log: log[:100], "no header"),
    ("no header", lambda log: log.split(b"\n", 1)[1], "begins with its header"),
    ("two headers", lambda log: log.split(b"\n", 1)[0] + b"\n" + log, "a second header"),
    ("a newer format", lambda log: log.replace(b'"format":1', b'"format":9', 1), "format 9"),
    ("binary", lambda _: bytes(range(256)) * 10, "run.jsonl:1"),
    ("zeros", lambda _: bytes(1000) + b"\n", "run.jsonl:1"),
    ("a suite's manifest", lambda _: b'{\n"format": 1\n}\n', "run.jsonl:1"),
    ("a flipped bit", lambda log: log.replace(b'"event":"result"', b'"event":"re3ult"', 1), ":2"),
    ("a damaged line", lambda log: log.replace(b'"pass"', b'"pass', 1), "the log is damaged"),
    ("a line after the end", lambda log: log + log.splitlines(True)[1], "after the end"),
    ("a line of 100 MB", lambda log: log + b"x" * 100_000_000 + b"\n", "longer than"),
    ("deep nesting", lambda log: log + b"[" * MIB + b"\n", "nested more than 32 deep"),
    ("a long number", lambda log: log + b'{"event":' + b"9" * MIB + b"}\n", "does not fit 64 bits"),
    ("an infinite number", lambda log: log + b'{"event":1e999}\n', "too large"),
    ("huge counts", lambda log: in_result(log, size=10**30), "size"),
    ("millions of texts", lambda log: in_result(log, edges=[""] * 1_000_000), "edges"),
    ("millions of wrong values", lambda log: in_result(log, edges=[1] * 1_000_000), "edges"),
    ("another type", lambda log: in_result(log, message={"a": 1}), "message"),
    ("control characters", lambda log: in_result(log, status="\x1b[2J"), "status"),
]


class TestRunLogs:
    @pytest.mark.parametrize(
        ("change", "says"), [row[1:] for row in LOGS], ids=[row[0] for row in LOGS]
    )
    def test_is_refused_with_a_place(
        self, whole: bytes, tmp_path: Path, change: Callable[[bytes], bytes], says: str
    ) -> None:
        log = tmp_path / "run.jsonl"
        log.write_bytes(change(whole))
        refused(command("report", log, "--out", tmp_path / "out"), str(log), says)
        assert not (tmp_path / "out").exists()

    def test_a_merge_refuses_it_too(self, whole: bytes, tmp_path: Path) -> None:
        log = tmp_path / "run.jsonl"
        log.write_bytes(whole.replace(b'"pass"', b'"pass', 1))
        refused(command("merge", log, "--out", tmp_path / "out"), str(log), "is damaged")
        assert not (tmp_path / "out").exists()

    def test_a_small_log_that_claims_a_huge_run_is_shown_at_once(
        self, whole: bytes, tmp_path: Path
    ) -> None:
        header = json.loads(whole.splitlines()[0])
        for counts in header["suite"]["by_op"].values():
            counts.update(value=2**53 - 1, reject=2**53 - 1)
        log = tmp_path / "run.jsonl"
        log.write_text(json.dumps(header) + "\n")
        ended = command("report", log)
        refused(ended, "CUT SHORT", "the log is cut short", within=5)
        assert (tmp_path / "index.html").exists()

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        refused(command("report", tmp_path), "not a file")
        refused(command("report", tmp_path / "none"), "cannot be read")
        os.mkfifo(tmp_path / "pipe")
        refused(command("report", tmp_path / "pipe"), "not a file")
