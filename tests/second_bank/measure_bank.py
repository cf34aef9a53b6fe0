"""How many mistakes of the second bank the shipped suites notice.

    python tests/second_bank/measure_bank.py

The bank was written from the documents alone, by someone who had seen neither the catalogue of
faults nor the suite.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import bank_adaptive_avg_pool
import bank_adaptive_max_pool
import bank_avg_pool

import conformance

BANKS = {
    "AvgPool-1": bank_avg_pool,
    "AdaptiveAvgPool-8": bank_adaptive_avg_pool,
    "AdaptiveMaxPool-8": bank_adaptive_max_pool,
}


def failing(suite: Any, run: Callable[..., Any], op: str, level: str) -> int:
    """How many vectors of an operator a backend does not pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = conformance.check(suite, run, ops=[op], level=level).results
    return sum(result.status in ("fail", "error") for result in results)


def missed(suite: Any, op: str, level: str) -> list[str]:
    """The mistakes that no vector notices."""
    found = []
    for mistake in BANKS[op].MISTAKES:
        mistake.forget()
        if not failing(suite, mistake.run, op, level):
            found.append(mistake.id)
    return found


def main() -> None:
    """Print a line for each suite, operator and level."""
    for name in ("smoke", "core"):
        suite = conformance.load_suite(name)
        for op, bank in BANKS.items():
            for level in ("should", "must"):
                left = missed(suite, op, level)
                count = len(bank.MISTAKES)
                print(f"{name:6} {op:18} {level:7} {count - len(left)} of {count}", *left)


if __name__ == "__main__":
    main()
