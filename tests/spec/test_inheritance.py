"""Specifications that extend others: a merge patch, with each problem where it was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from spec_examples import DOCUMENT, EXAMPLE

from conformance.errors import Problem, SpecError
from conformance.spec.inheritance import MAX_LINEAGE, extended
from conformance.spec.lint import lint
from conformance.spec.loader import load_spec, shipped_specs
from conformance.spec.yaml_reader import parse_yaml
from conformance.spec.yaml_source import Source

LATER = re.findall(r"```yaml\n(format: 1\n.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]
HEAD = (
    "format: 1\nop: Later-2\nextends: BlockMean-1\ndocument: {title: A, url: https://example.org}\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "BlockMean-1.yaml").write_text(EXAMPLE)
    return tmp_path


def problems_of(folder: Path, text: str) -> tuple[Problem, ...]:
    (folder / "Later-2.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load_spec(folder / "Later-2.yaml")
    return caught.value.problems


def test_the_documented_example_loads(folder: Path) -> None:
    (folder / "BlockMean-2.yaml").write_text(LATER)
    spec = load_spec(folder / "BlockMean-2.yaml")
    base = load_spec(folder / "BlockMean-1.yaml")
    assert spec.lineage == ("BlockMean-2", "BlockMean-1")
    assert base.lineage == ("BlockMean-1",)
    assert (spec.document.title, spec.summary) == ("An example", base.summary)
    assert spec.definitions["out"].text == "ceil_div(size, block)"
    assert spec.definitions["start"] == base.definitions["start"]
    assert (spec.interpretations, spec.require) == ((), ())
    assert spec.quantities["block"].draw.max.text == "6"
    assert spec.quantities["block"].min.text == "1"
    assert {one.name for one in base.reject} - {one.name for one in spec.reject} == {
        "block-too-large"
    }
    assert lint(spec) == ()


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
    text = HEAD + "let:\n  rest:\nattributes:\n  block: {max: none}\n"
    found = {(Path(one.file).name, one.line): one.message for one in problems_of(folder, text)}
    lines = EXAMPLE.splitlines()
    uses = {number for number, line in enumerate(lines, 1) if re.search("(any|all)\\(rest", line)}
    assert found["Later-2.yaml", 8] == "unknown name 'none'"
    inherited = {line: message for (name, line), message in found.items() if "1" in name}
    assert inherited == dict.fromkeys(uses, "unknown name 'rest'")


@pytest.mark.parametrize(
    "name", ["Nothing-1", "../BlockMean-1", "/etc/passwd", "5", "[a]", "{}", ""]
)
def test_what_is_not_there_cannot_be_extended(folder: Path, name: str) -> None:
    (problem, *_) = problems_of(folder, HEAD.replace("BlockMean-1", name))
    assert problem.message == "there is no specification to extend"
    assert (problem.line, problem.column) == (3, 1 + len("extends: ") if name else 9)


def test_only_what_is_there_is_taken_away(folder: Path) -> None:
    (problem,) = problems_of(folder, HEAD + "edges:\n  no-such:\n")
    assert (problem.message, problem.line) == ("there is no 'no-such' to take away", 6)


def test_a_file_does_not_extend_itself(folder: Path) -> None:
    (folder / "BlockMean-1.yaml").write_text(EXAMPLE + "extends: Later-2\n")
    assert problems_of(folder, HEAD)[0].message == "there is no specification to extend"


def test_a_file_of_the_same_name_extends_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "AvgPool-1.yaml"
    path.write_text(
        "format: 1\nop: AvgPool-1\nextends: AvgPool-1\nsummary: Ours.\n"
        "document: {title: Ours, url: https://example.org}\n"
    )
    spec = load_spec(path)
    assert spec.summary == "Ours."
    assert spec.definitions == shipped_specs()["AvgPool-1"].definitions
    assert spec.errata == ()


def test_a_chain_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "Link-0.yaml").write_text(EXAMPLE)
    for number in range(1, MAX_LINEAGE + 2):
        text = HEAD.replace("BlockMean-1", f"Link-{number - 1}").replace(
            "Later-2", f"Link-{number}"
        )
        (tmp_path / f"Link-{number}.yaml").write_text(text)
    assert load_spec(tmp_path / f"Link-{MAX_LINEAGE}.yaml").lineage[-1] == "Link-0"
    with pytest.raises(SpecError, match=f"more than {MAX_LINEAGE} files"):
        load_spec(tmp_path / f"Link-{MAX_LINEAGE + 1}.yaml")


def test_a_table_is_needed_to_extend() -> None:
    for text in ("- 1\n", "word\n", "5\n"):
        with pytest.raises(SpecError, match="there is no specification to extend"):
            extended(parse_yaml("extends: X-1\na: 1\n", "new"), parse_yaml(text, "old"))
    assert extended(Source("x", data=[1]), None).data == [1]


def test_an_attribute_written_in_another_way_keeps_its_place(folder: Path) -> None:
    named = "attributes: {block_size: {as: block, draw: {max: 3}}}\n"
    (folder / "Later-2.yaml").write_text(HEAD + named)
    spec, base = load_spec(folder / "Later-2.yaml"), load_spec(folder / "BlockMean-1.yaml")
    (block,) = spec.attributes
    assert (block.name, block.key, block.required) == ("block_size", "block", True)
    assert block.draw.max.text == "3"
    assert list(spec.quantities) == list(base.quantities)
    assert lint(spec) == ()


def test_an_attribute_may_be_written_in_another_way_more_than_once(folder: Path) -> None:
    (folder / "Later-2.yaml").write_text(HEAD + "attributes: {block_size: {as: block}}\n")
    again = HEAD.replace("Later-2", "Later-3").replace("BlockMean-1", "Later-2")
    (folder / "Later-3.yaml").write_text(again + "attributes: {edge-length: {as: block}}\n")
    spec = load_spec(folder / "Later-3.yaml")
    assert [one.name for one in spec.attributes] == ["edge-length"]
    assert list(spec.quantities) == ["block", "N", "C", "size"]


def test_a_problem_inside_an_attribute_is_shown_where_it_was_written(folder: Path) -> None:
    base = folder / "BlockMean-1.yaml"
    text = base.read_text()
    base.write_text(text.replace("draw: {max: 4}", "draw: {max: four}"))
    line = text[: text.index("draw: {max: 4}")].count("\n") + 1
    (problem,) = problems_of(folder, HEAD + "attributes: {block_size: {as: block}}\n")
    assert (problem.file, problem.line) == (str(base), line)


def test_a_problem_is_shown_in_the_file_that_has_it_through_others_between(folder: Path) -> None:
    base = folder / "BlockMean-1.yaml"
    text = base.read_text()
    base.write_text(text.replace("draw: {max: 4}", "draw: {max: four}"))
    (folder / "Between-1.yaml").write_text(HEAD.replace("Later-2", "Between-1"))
    (problem,) = problems_of(folder, HEAD.replace("BlockMean-1", "Between-1"))
    line = text[: text.index("draw: {max: 4}")].count("\n") + 1
    assert (problem.file, problem.line) == (str(base), line)


def test_what_takes_an_attribute_away_may_give_another_its_name(folder: Path) -> None:
    whole = "{as: block, type: int, per: axis, required: true, min: 1, draw: {max: 2}}"
    text = f"attributes:\n  block:\n  block_size: {whole}\n"
    (folder / "Later-2.yaml").write_text(HEAD + text)
    (block,) = load_spec(folder / "Later-2.yaml").attributes
    assert (block.name, block.draw.max.text) == ("block_size", "2")
