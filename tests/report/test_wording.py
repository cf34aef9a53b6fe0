"""Words that all formats share."""

from __future__ import annotations

import pytest

from conformance.report.wording import shorten_distinctly

SAME = "RuntimeError: " + "could not create a primitive descriptor for " * 4
HEAD = "RuntimeError: could not create … "


@pytest.mark.parametrize(
    ("text", "others", "shown"),
    [
        ("short", ["short, too"], "short"),
        # What differs stands early enough, or there is nothing to differ from.
        ("a" + "x" * 99, ["b" + "x" * 99], "a" + "x" * 88 + "…"),
        ("x" * 100, [], "x" * 89 + "…"),
        ("x" * 100, ["x" * 100], "x" * 89 + "…"),
        (
            SAME + "pooling_fwd",
            [SAME + "pooling_bwd"],
            HEAD + "r could not create a primitive descriptor for pooling_fwd",
        ),
        # One that only goes on where another ends.
        (
            SAME + "f16",
            [SAME + "f16 and more"],
            HEAD + "iptor for could not create a primitive descriptor for f16",
        ),
        (
            SAME + "rank 5, " + "y" * 99,
            [SAME + "rank 4, " + "y" * 99],
            HEAD + "ive descriptor for rank 5, " + "y" * 29 + "…",
        ),
    ],
)
def test_what_tells_a_text_from_others_is_kept(text: str, others: list[str], shown: str) -> None:
    told = shorten_distinctly(text, [text, *others], 90)
    assert told == shown
    assert len(told) <= 90
