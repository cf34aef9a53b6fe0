"""What the pages of operators are made of; what reads pages back lies with other tests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import tiers

from conformance.docs.html import index_page, operator_page
from conformance.docs.operator_facts import OperatorFacts, collect_facts
from conformance.log.reader import read
from conformance.log.run_log import RunLog
from conformance.specification import find_spec
from conformance.suite.store import Suite

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("report", "log", "spec", "scenarios")]

SAMPLE = TESTS.parent / "reports" / "sample"


class Accounts(dict[str, OperatorFacts]):
    """The account of each operator, made when it is first asked for."""

    def __init__(self, suite: Suite, runs: tuple[RunLog, ...]) -> None:
        self.suite = suite
        self.runs = runs

    def __missing__(self, op: str) -> OperatorFacts:
        self[op] = collect_facts(find_spec(op), self.suite, self.runs)
        return self[op]


class Pages(dict[str, str]):
    """The page of each operator, and ``index`` of those with vectors, likewise."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    def __missing__(self, name: str) -> str:
        accounts = self.accounts
        if name == "index":
            every = tuple(accounts[op] for op in accounts.suite.manifest.ops)
            self[name] = index_page(every, accounts.runs, accounts.suite.name)
        else:
            self[name] = operator_page(accounts[name])
        return self[name]


@pytest.fixture(scope="session")
def runs() -> tuple[RunLog, ...]:
    return tuple(read(SAMPLE / name / "run.jsonl.gz") for name in ("openvino", "torch"))


@pytest.fixture(scope="session")
def accounts(exhaustive: bool, runs: tuple[RunLog, ...]) -> Accounts:
    return Accounts(tiers.suite(exhaustive), runs)


@pytest.fixture(scope="session")
def pages(accounts: Accounts) -> Mapping[str, str]:
    return Pages(accounts)
