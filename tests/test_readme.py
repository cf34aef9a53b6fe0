"""The README's promises: its backend runs, its links lead somewhere, its vectors exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.log.reader import read
from conformance.suite.store import open_suite

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_quick_start_goes_the_whole_way() -> None:
    start = README.index("## Quick start")
    section = README[start : README.index("\n## ", start + 1)]
    shell = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert len(shell) == len(blocks("sh")) == 3
    first, core, tests = shell
    assert "conformance generate" in first
    assert "--suite fresh --out reports/fresh" in first
    assert (
        "conformance check --backend openvino --op MaxPool-14 -j 2 --out reports/openvino" in core
    )
    assert "pytest" in tests


LIBRARY = """
from conformance.specification import find_spec, outputs

__version__ = "1.0"

def avg_pool(data, **attributes):
    given = {k.replace("exclude_pad", "exclude-pad"): v for k, v in attributes.items()}
    return outputs(find_spec("AvgPool-1"), [data], given)[0]
"""


def test_the_first_backend_is_short_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = blocks("python")[0]
    assert len(text.splitlines()) <= 16

    (tmp_path / "mylib.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "mybackend.py"
    file.write_text(text, encoding="utf-8")
    arguments = ["check", "--backend", f"{file}:MyLib", "--suite", "smoke"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "the operator is not among the declared operators" in result.output


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]
    pages += sorted((ROOT / "docs").glob("*.md"))
    pages += sorted((ROOT / "reports" / "sample").glob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text)
        targets += re.findall(r'(?:src|srcset)="([^"]+)"', text)
        for target in targets:
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def named_vectors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    pattern = r"\b(?:b?f16|f32|f64|i8|u8|i32|i64)-[0-9x]+-[a-z0-9-]+-[0-9a-f]{8}\b"
    return set(re.findall(pattern, text))


def test_the_vectors_named_exist() -> None:
    named = named_vectors(ROOT / "README.md")
    assert named
    assert all(open_suite().get(one).id == one for one in named)


def test_the_vectors_that_the_samples_name_are_in_their_logs() -> None:
    """Or in the shipped suite, where the log of a backend is not kept."""
    samples = ROOT / "reports" / "sample"
    asked = {result.id for log in samples.glob("*/run.jsonl.gz") for result in read(log).results}
    named = named_vectors(samples / "README.md")
    assert named
    assert all(open_suite().get(one).id == one for one in named - asked)
