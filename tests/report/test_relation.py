"""What wrong elements have to do with the right ones, told where it is more than a distance."""

from __future__ import annotations

import pytest

from conformance.report.relation import relation


def plane(expected, got):
    wrong = [
        [a != b for a, b in zip(*rows, strict=True)] for rows in zip(expected, got, strict=True)
    ]
    texts = [[[str(one) for one in row] for row in side] for side in (expected, got)]
    return {"plane": {"expected": texts[0], "got": texts[1], "wrong": wrong}}


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (
            [[4.0, 8.0, 3.0]],
            [[9.0, 18.0, 3.0]],
            "All 2 wrong elements are 9/4 of what is expected.",
        ),
        ([[3.0, 7.0]], [[1.0, 7.0 / 3]], "All 2 wrong elements are 1/3 of what is expected."),
        ([[1.0, 2.0]], [[-2.0, -4.0]], "All 2 wrong elements are -2 of what is expected."),
        ([[1.0, 7.0]], [[3.14159, 21.99113]], "All 2 wrong elements are 22/7 of what is expected."),
        ([[1.0, 2.0, 3.0]], [[0.0, 0.0, 3.0]], "All 2 wrong elements are 0.0."),
        (
            [[1.0, 5.0, 2.0, 9.0]],
            [[5.0, 2.0, 9.0, 9.0]],
            "All 3 wrong elements are what is expected elsewhere.",
        ),
        (
            [[1.0, 5.0, 2.0, 9.0, 4.0]],
            [[5.0, 2.0, 9.0, 0.0, 0.0]],
            "3 of 5 wrong elements are what is expected elsewhere, 2 are 0.0.",
        ),
        ([[1.0, 2.0]], [[3.0, 2.0]], ""),  # one element has a ratio to any
        ([[1.0, 1.0]], [[3.0, 3.0]], ""),  # so have several that are alike
        ([[1.0, 2.0, 5.0]], [[1.7, 2.9, 11.0]], ""),
        ([["nan", 2.0]], [[1.0, "nan"]], ""),
        ([[0.0, 2.0]], [[1.0, 4.0]], ""),
    ],
)
def test_says(expected, got, said):
    assert relation(plane(expected, got)) == said


@pytest.mark.parametrize("detail", [{}, {"plane": 3}, {"plane": {"expected": [["1"]]}}])
def test_nothing_of_the_form(detail):
    assert relation(detail) == ""
