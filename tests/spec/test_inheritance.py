"""Specifications that extend others: a merge patch, with each problem where it was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from spec_examples import EXAMPLE

from conformance.errors import Problem, SpecError
from conformance.spec.inheritance import MAX_LINEAGE, extended
from conformance.spec.yaml_reader import parse_yaml
from conformance.spec.yaml_source import Source
from conformance.specification import find_spec

HEAD = "op: own.Later-2\nextends: own.BlockMean-1\nsummary: A\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.BlockMean-1.yaml").write_text(EXAMPLE)
    return tmp_path


def problems_of(folder: Path, text: str) -> tuple[Problem, ...]:
    (folder / "own.Later-2.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        find_spec(str(folder / "own.Later-2.yaml"))
    return caught.value.problems


def test_what_is_stated_anew_takes_the_place_of_what_was_there(folder: Path) -> None:
    later = folder / "own.Later-2.yaml"
    later.write_text(
        HEAD
        + """\
attributes: {block: {min: 2}}
let: {more: rest + 1}
define: {result: {at: {n: N, c: C, i: "ceil_div(size, block)"}, outside: 0}}
interpretations: {keeps-the-rest: null}
"""
    )
    spec, base = find_spec(str(later)), find_spec(str(folder / "own.BlockMean-1.yaml"))
    assert (spec.op, spec.data["summary"]) == ("own.Later-2", "A")
    assert [*spec.let] == ["rest", "more"]
    assert (spec.attributes["block"].min, spec.attributes["block"].per) == (2, "axis")
    assert spec.data["define"]["result"]["at"]["i"] == "ceil_div(size, block)"
    assert spec.data["define"]["result"]["term"] == base.data["define"]["result"]["term"]
    assert (len(base.interpretations), spec.interpretations) == (1, ())
    assert [one.name for one in spec.profiles] == [one.name for one in base.profiles] == ["whole"]
    assert "document" not in spec.data  # what a file says of itself alone


def _patched(base: Any, patch: Any) -> Any:
    """RFC 7396, section 2, for tables."""
    if not isinstance(patch, dict):
        return patch
    found = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _patched(found.get(key), value)
    return found


KEYS = st.sampled_from("abc")
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        st.integers(0, 9) | st.sampled_from("xyz") | st.lists(st.integers(0, 3), max_size=2),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
)


def _without(draw: st.DrawFn, tree: dict[str, Any]) -> dict[str, Any]:
    """A patch that takes away only what is there, and changes or adds the rest."""
    patch: dict[str, Any] = {}
    for key, value in tree.items():
        choice = draw(st.sampled_from(["keep", "remove", "replace", "inside"]))
        if choice == "remove":
            patch[key] = None
        elif choice == "replace":
            patch[key] = draw(TREES)
        elif choice == "inside" and isinstance(value, dict):
            patch[key] = _without(draw, value)
    return patch | draw(st.dictionaries(st.sampled_from("de"), TREES, max_size=1))


@given(st.data(), TREES)
def test_it_is_a_merge_patch(data: st.DataObject, base: dict[str, Any]) -> None:
    patch = data.draw(st.composite(lambda draw: _without(draw, base))())
    text = yaml.safe_dump({**patch, "extends": "Base-1"}, sort_keys=False)
    source = extended(parse_yaml(text, "new"), parse_yaml(yaml.safe_dump(base) + "\n", "old"))
    assert source.problems == []
    assert source.data == _patched(base, patch)
    for path in _paths(source.data):
        assert source.where(path) != (1, 1) or path[0] in (next(iter(base), ""), next(iter(patch)))
        assert source.file_of(path) == ("new" if _given(patch, path) else "old")


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    here = [path] if path else []
    inner = tree.items() if isinstance(tree, dict) else ()
    return here + [found for key, value in inner for found in _paths(value, (*path, key))]


def _given(patch: Any, path: tuple[Any, ...]) -> bool:
    for key in path:
        if not isinstance(patch, dict) or key not in patch:
            return False
        patch = patch[key]
    return True


def test_a_problem_is_shown_in_the_file_that_has_it(folder: Path) -> None:
    found = problems_of(folder, HEAD + "let:\n  rest:\nrequire:\n  more: none > 0\n")
    told = {(Path(one.file).name, one.line): one.message for one in found}
    lines = EXAMPLE.splitlines()
    uses = {number for number, line in enumerate(lines, 1) if re.search(r"rest (>|==) 0", line)}
    assert told["own.Later-2.yaml", 7] == "unknown name 'none'"
    inherited = {line: message for (name, line), message in told.items() if "Mean" in name}
    assert inherited == dict.fromkeys(uses, "unknown name 'rest'")


@pytest.mark.parametrize(
    "name", ["own.Nothing-1", "../own.BlockMean-1", "/etc/passwd", "5", "[a]", "{}", ""]
)
def test_what_is_not_there_cannot_be_extended(folder: Path, name: str) -> None:
    (problem, *_) = problems_of(folder, HEAD.replace("own.BlockMean-1", name))
    assert problem.message == "there is no specification to extend"
    assert (problem.line, problem.column) == (2, 1 + len("extends: ") if name else 9)


def test_only_what_is_there_is_taken_away(folder: Path) -> None:
    (problem,) = problems_of(folder, HEAD + "require:\n  no-such:\n")
    assert (problem.message, problem.line) == ("there is no 'no-such' to take away", 5)


def test_a_file_does_not_extend_itself(folder: Path) -> None:
    (folder / "own.BlockMean-1.yaml").write_text(EXAMPLE + "extends: own.Later-2\n")
    assert problems_of(folder, HEAD)[0].message == "there is no specification to extend"


def test_a_file_of_the_same_name_extends_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "AvgPool-1.yaml"
    path.write_text("op: AvgPool-1\nextends: AvgPool-1\nsummary: Ours.\n")
    spec, shipped = find_spec(str(path)), find_spec("AvgPool-1")
    assert spec.data["summary"] == "Ours."
    assert spec.data["define"] == shipped.data["define"]
    assert shipped.errata
    assert spec.errata == ()


def test_a_chain_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "own.Link-0.yaml").write_text(EXAMPLE)
    for number in range(1, MAX_LINEAGE + 2):
        text = HEAD.replace("BlockMean-1", f"Link-{number - 1}").replace(
            "Later-2", f"Link-{number}"
        )
        (tmp_path / f"own.Link-{number}.yaml").write_text(text)
    last = find_spec(str(tmp_path / f"own.Link-{MAX_LINEAGE}.yaml"))
    assert last.data["let"] == {"rest": "size % block"}
    with pytest.raises(SpecError, match=f"more than {MAX_LINEAGE} files"):
        find_spec(str(tmp_path / f"own.Link-{MAX_LINEAGE + 1}.yaml"))


def test_a_table_is_needed_to_extend() -> None:
    for text in ("- 1\n", "word\n", "5\n"):
        with pytest.raises(SpecError, match="there is no specification to extend"):
            extended(parse_yaml("extends: X-1\na: 1\n", "new"), parse_yaml(text, "old"))
    assert extended(Source("x", data=[1]), None).data == [1]


def test_an_attribute_written_in_another_way_keeps_its_place(folder: Path) -> None:
    path = folder / "own.Later-2.yaml"
    path.write_text(HEAD + "attributes: {block_size: {as: block, max: 3}}\n")
    (block,) = find_spec(str(path)).attributes.values()
    assert (block.spelling, block.name, block.min, block.max) == ("block_size", "block", 1, 3)


def test_an_attribute_may_be_written_in_another_way_more_than_once(folder: Path) -> None:
    (folder / "own.Later-2.yaml").write_text(HEAD + "attributes: {block_size: {as: block}}\n")
    again = HEAD.replace("own.BlockMean-1", "own.Later-2").replace("op: own.Later-2", "op: own.X-3")
    (folder / "own.X-3.yaml").write_text(again + "attributes: {edge-length: {as: block}}\n")
    spec = find_spec(str(folder / "own.X-3.yaml"))
    assert [*spec.spelled] == ["edge-length"]
    assert [*spec.attributes] == ["block"]


def spoiled_base(folder: Path) -> tuple[str, int]:
    """The base with a problem inside of an attribute, and its line."""
    base = folder / "own.BlockMean-1.yaml"
    base.write_text(EXAMPLE.replace("block: {per: axis, min: 1}", "block: {per: axis, min: one}"))
    return str(base), EXAMPLE[: EXAMPLE.index("block: {per")].count("\n") + 1


def test_a_problem_inside_an_attribute_is_shown_where_it_was_written(folder: Path) -> None:
    told = spoiled_base(folder)
    (problem,) = problems_of(folder, HEAD + "attributes: {block_size: {as: block}}\n")
    assert (problem.file, problem.line) == told


def test_a_problem_is_shown_in_the_file_that_has_it_through_others_between(folder: Path) -> None:
    told = spoiled_base(folder)
    (folder / "own.Between-1.yaml").write_text(HEAD.replace("Later-2", "Between-1"))
    (problem,) = problems_of(folder, HEAD.replace("BlockMean-1", "Between-1"))
    assert (problem.file, problem.line) == told


def test_what_takes_an_attribute_away_may_give_another_its_name(folder: Path) -> None:
    path = folder / "own.Later-2.yaml"
    whole = "{as: block, per: axis, min: 1, max: 2}"
    path.write_text(HEAD + f"attributes:\n  block:\n  block_size: {whole}\n")
    (block,) = find_spec(str(path)).attributes.values()
    assert (block.spelling, block.max) == ("block_size", 2)
