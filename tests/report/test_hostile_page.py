"""Whatever a log says, the page shows it as text, and stays a page."""

from __future__ import annotations

from dataclasses import replace

import diagnosed
import sample_runs
from hypothesis import given
from hypothesis import strategies as st
from pages import check_safe, check_structure
from runs import FEW, hostile_runs, hostile_text, run

from conformance.log.detail import parse_detail
from conformance.log.diagnosis import parse_diagnosis
from conformance.report.page import render

MEMBERS = (
    *("sentence", "faults", "alternatives", "agree", "scope", "conditions", "separates"),
    *("place", "where", "by_chance"),
    *("id", "kind", "says", "threads", "look", "ids", "equal", "failing", "name", "holds", "about"),
    *(
        "reads",
        "plane",
        "elements",
        "tensors",
        "slices",
        "rows",
        "columns",
        "counts",
        "values",
        "terms",
    ),
    *(
        "expected",
        "got",
        "wrong",
        "given",
        "cause",
        "fixed",
        "output",
        "index",
        "ulp",
        "lo",
        "hi",
        "show",
    ),
)
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | hostile_text
    | st.sampled_from(["https://x.org/<b>", "javascript:x", "https://x.org/a'\"b", "inf"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(MEMBERS) | hostile_text, inner, max_size=5)
    ),
    max_leaves=25,
)


@st.composite
def bent(draw, value):
    """JSON data in which something here and there is other JSON."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json)
    if isinstance(value, dict):
        return {name: draw(bent(item)) for name, item in value.items()}
    if isinstance(value, list):
        return [draw(bent(item)) for item in value]
    return value


def is_read(parse, data):
    """Whether the reader of a log lets it pass."""
    try:
        parse(data)
    except ValueError:
        return False
    return True


@st.composite
def diagnosed_runs(draw):
    log = draw(hostile_runs())
    detail = draw(bent(diagnosed.DETAIL) | json)
    told = draw(bent(diagnosed.MATCHED) | bent(diagnosed.UNMATCHED) | json)
    told = told if is_read(parse_diagnosis, told) else None
    more = detail if isinstance(detail, dict) and is_read(parse_detail, detail) else {}
    more |= {name: draw(bent(detail) | json) for name in ("plane", "elements")}
    findings = tuple(
        diagnosed.diagnosed(replace(finding, detail={}), told, **more) for finding in log.findings
    )
    results = tuple(
        diagnosed.measured(
            result, draw(st.none() | st.lists(st.integers(0, 9), min_size=6, max_size=6))
        )
        for result in log.results
    )
    return replace(log, findings=findings, results=results)


@FEW
@given(diagnosed_runs())
def test_any_text_and_any_json(log):
    text = render(log)
    check_safe(text)
    check_structure(text)


def test_a_megabyte_in_every_member():
    """A log that somebody else wrote is not bounded as one of ours; its page is."""
    events = sample_runs.hostile("</script><b>\u202e" * 77_000)
    text = render(run(events))
    check_safe(text)
    assert len(text) < 2_000_000
