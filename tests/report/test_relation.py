"""What wrong elements have to do with the right ones, told where it is more than a distance."""

from __future__ import annotations

import pytest

from conformance.report.elements import MAX_SLICES, error_pattern


def plane(expected, got):
    wrong = [
        [a != b for a, b in zip(*rows, strict=True)] for rows in zip(expected, got, strict=True)
    ]
    texts = [[[str(one) for one in row] for row in side] for side in (expected, got)]
    return {"expected": texts[0], "got": texts[1], "wrong": wrong}


def wrong(expected, got):
    rows = zip(expected, got, strict=True)
    return sum(a != b for row in rows for a, b in zip(*row, strict=True))


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (
            [[4.0, 8.0, 3.0]],
            [[9.0, 18.0, 3.0]],
            "All 2 wrong elements are 9/4 of the expected value.",
        ),
        ([[3.0, 7.0]], [[1.0, 7.0 / 3]], "All 2 wrong elements are 1/3 of the expected value."),
        ([[1.0, 2.0]], [[-2.0, -4.0]], "All 2 wrong elements are -2 times the expected value."),
        (
            [[1.0, 7.0]],
            [[3.14159, 21.99113]],
            "All 2 wrong elements are 22/7 of the expected value.",
        ),
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
        (
            [[1e-308, 2e-308]],
            [[1.0, 2.0]],
            "All 2 wrong elements are 1e+308 times the expected value.",
        ),
        ([[1e-308, 2e-308]], [[1e10, 2e10]], ""),  # the ratio is no number
        (
            [[1e-308, 2e-308, 3e-308]],
            [[1.1, 2.2, 3.3]],
            "All 3 wrong elements are 1.1e+308 times the expected value.",
        ),
    ],
)
def test_says(expected, got, said):
    assert error_pattern(plane(expected, got), wrong(expected, got)) == said


def test_a_ratio_is_that_of_the_numbers_not_of_their_shortest_digits():
    """1.0234375 and twice as much are 1.02 and 2.05 in bf16."""
    detail = plane([[1.0234375, 1.5]], [[2.046875, 3.0]])
    assert (
        error_pattern(detail, 2, "bf16") == "All 2 wrong elements are 2 times the expected value."
    )


def test_of_a_plane_that_has_not_all_wrong_elements_it_says_so():
    two = plane([[4.0, 8.0]], [[9.0, 18.0]])
    assert error_pattern(two, 3) == (
        "In the plane of the worst element, all 2 wrong elements are 9/4 of the expected value."
    )


def test_a_volume_with_more_slices_than_are_shown_says_nothing():
    two = plane([[4.0, 8.0]], [[9.0, 18.0]])

    def volume(slices):
        return {name: [part] * slices for name, part in two.items()}

    assert error_pattern(volume(MAX_SLICES), 8).startswith("All 8 wrong elements")
    assert error_pattern(volume(MAX_SLICES + 1), 10) == ""


@pytest.mark.parametrize("detail", [None, {}, 3, {"expected": [["1"]]}])
def test_nothing_of_the_form(detail):
    assert error_pattern(detail, 3) == ""
