"""ARCHITECTURE.md names what there is: its paths, packages and import contracts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "conformance"
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))[
    "tool"
]["importlinter"]["contracts"]


def rows(heading: str) -> list[list[str]]:
    """The rows of the table whose header begins with ``heading``, as lists of cells."""
    table = TEXT[TEXT.index(f"| {heading} |") :].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()][
        2:
    ]


def named(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def short(modules: list[str]) -> list[str]:
    return [module.removeprefix("conformance.") for module in modules]


def test_it_fits_on_few_screens() -> None:
    picture = re.findall(r"^```mermaid\n.*?^```\n", TEXT, re.MULTILINE | re.DOTALL)
    assert len(picture) == 1
    assert len(TEXT.replace(picture[0], "").splitlines()) <= 110
    assert max(map(len, TEXT.replace(picture[0], "").splitlines())) <= 170


def test_every_path_exists() -> None:
    prose = re.sub(r"^```.*?^```\n", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    paths = [one for one in named(prose) if re.search(r"/|\.(py|json|toml|md)$", one)]
    paths += re.findall(r"\]\(([^)#:]+)\)", prose)
    assert len(paths) > 50
    for path in paths:
        pattern = re.sub(r"<\w+>", "*", path)
        assert any(ROOT.glob(pattern)) or any(PACKAGE.glob(pattern)), path


def test_every_folder_of_the_picture_exists() -> None:
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```\n", TEXT, re.MULTILINE | re.DOTALL)
    folders = re.findall(r"\b(?:specs(?:/\w+)?|vectors)\b", picture)
    assert len(folders) >= 4
    assert all((ROOT / folder).is_dir() for folder in folders)
    packages = set(re.findall(r'"(\w+): ', picture))
    assert {"generate", "core", "grade", "diagnosis", "run", "report"} <= packages
    assert all((PACKAGE / name).is_dir() for name in packages)


def test_every_package_and_module_is_named() -> None:
    listed = [name for row in rows("in `conformance/`") for name in named(row[0])]
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    modules = {file.stem for file in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(listed) == sorted(folders | modules)
    assert all(row[1] for row in rows("in `conformance/`"))


def test_the_order_of_packages_is_that_of_the_contract() -> None:
    (layers,) = [contract for contract in CONTRACTS if contract["type"] == "layers"]
    listed = [named(row[0]) for row in rows("in `conformance/`")]
    assert listed == [short(layer.split(" : ")) for layer in layers["layers"]]
    assert layers["ignore_imports"] == [
        f"conformance -> conformance.{package}" for package in ("api", "kernels")
    ]


def test_the_forbidden_imports_are_those_of_the_contracts() -> None:
    listed = {name: (named(these), named(that)) for name, these, that in rows("contract")}
    assert listed == {
        contract["name"]: (short(contract["source_modules"]), short(contract["forbidden_modules"]))
        for contract in CONTRACTS
        if contract["type"] != "layers"
    }
    assert {contract["type"] for contract in CONTRACTS} == {"layers", "forbidden"}
