"""An option of a check is a field: command line, Python interface and log have just the fields."""

from __future__ import annotations

import inspect
import json
from dataclasses import FrozenInstanceError, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import pytest

import conformance
from conformance.backends.reference import Reference
from conformance.check_options import (
    OPTIONS,
    CheckOptions,
    describe_options,
    flag_of,
    help_of,
    parse_ranks,
    split_commas,
)
from conformance.cli import main
from conformance.cli.check import check
from conformance.errors import UsageError
from conformance.suite.store import Suite

OF_THE_RUN = ["earlier", "findings", "kept", "work", "on_event"]
"""Arguments of ``conformance.check`` that are no options."""


def parsed(*words: str) -> dict[str, Any]:
    """The parameters of ``conformance check --backend numpy``, read below the group as always."""
    group = click.Context(main, **main.context_settings)
    return check.make_context("check", ["--backend", "numpy", *words], group).params


def test_the_signature_of_the_python_form_has_the_fields() -> None:
    parameters = list(inspect.signature(conformance.check).parameters.values())
    options = {
        entry.name: (entry.annotation, entry.default) for entry in parameters[2 : -len(OF_THE_RUN)]
    }
    assert options == {entry.name: (entry.type, entry.default) for entry in fields(CheckOptions)}
    assert [entry.name for entry in parameters[-len(OF_THE_RUN) :]] == OF_THE_RUN


def test_the_help_of_the_python_form_describes_each_option() -> None:
    text = inspect.getdoc(conformance.check) or ""
    assert text.splitlines()[0].endswith("grade the outputs.")
    assert "\n    repeat: Run each vector N times; outputs that differ in any bit" in text
    assert [name for name in OPTIONS if f"\n    {name}: " not in text] == []
    assert max(map(len, describe_options().splitlines())) <= 96


def test_an_option_left_out_on_the_command_line_has_the_default_of_its_field() -> None:
    assert CheckOptions.among(parsed()) == CheckOptions()


def test_the_command_line_sets_each_field() -> None:
    words = [
        *("--op", "AvgPool-1", "--op", "MaxPool-1", "--only", "1a2b", "--dtypes", "f16, f32"),
        *("--dtypes", "bf16", "--ranks", "3,4", "--level", "should", "--precision", "exact"),
        *("--executor", "process", "-j", "2", "--timeout", "2.5", "--memory", "1G", "--env", "v"),
        *("--repeat", "3", "--known-failures", "k.yaml", "--require", "r.yaml", "--strict"),
        *("--min-strength", "90", "--shuffle", "7", "--shard", "1/2"),
    ]
    assert CheckOptions.among(parsed(*words)) == CheckOptions(
        ops=("AvgPool-1", "MaxPool-1"),
        only=("1a2b",),
        dtypes=("f16", "f32", "bf16"),
        ranks=(3, 4),
        level="should",
        precision="exact",
        executor="process",
        jobs=2,
        timeout=2.5,
        memory="1G",
        env="v",
        repeat=3,
        known_failures=Path("k.yaml"),
        require=Path("r.yaml"),
        strict=True,
        min_strength=90,
        shuffle=7,
        shard="1/2",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shuffle", "-1"], "-1 is not in the range 0<=x<=4294967295"),
        (["--min-strength", "101"], "101.0 is not in the range 0<=x<=100"),
        (["--jobs", "0"], "0 is not in the range x>=1"),
        (["--level", "may"], "'may' is not one of 'must', 'should'"),
    ],
)
def test_a_value_that_the_field_does_not_allow(words: list[str], message: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        parsed(*words)
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["known_failures", "require"])
def test_a_file_that_is_named_twice_is_refused(name: str) -> None:
    flag = flag_of(name)
    with pytest.raises(UsageError, match=f"{flag} is given 2 times"):
        parsed(flag, "a", flag, "b")


def test_the_header_of_a_log_has_each_option_as_its_schema_says(small_suite: Suite) -> None:
    run = conformance.check(
        small_suite, Reference(), only=["f32"], dtypes=("f32",), shuffle=7, min_strength=0
    )
    options = run.header["options"]
    schema = json.loads(files("conformance.log").joinpath("run-log.schema.json").read_text("utf-8"))
    assert list(options) == [*OPTIONS, "gate_sha256"]
    assert options.keys() == schema["$defs"]["header"]["properties"]["options"]["properties"].keys()
    assert json.loads(json.dumps(options)) == {
        "ops": None,
        "only": ["f32"],
        "dtypes": ["f32"],
        "ranks": None,
        "level": "must",
        "precision": {"f16": "standard", "bf16": "standard", "f32": "standard", "f64": "standard"},
        "executor": "inline",
        "jobs": 1,
        "timeout": None,
        "memory": None,
        "env": None,
        "repeat": 1,
        "known_failures": None,
        "require": None,
        "strict": False,
        "min_strength": 0,
        "shuffle": 7,
        "shard": None,
        "gate_sha256": None,
    }


def test_an_option_that_the_run_has_to_settle_is_not_left_out_of_a_header() -> None:
    with pytest.raises(KeyError, match="ops"):
        CheckOptions().header({})


def test_options_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        CheckOptions().level = "should"  # type: ignore[misc]


def test_flags_and_help() -> None:
    assert [flag_of(name) for name in ("ops", "min_strength")] == ["--op", "--min-strength"]
    assert help_of("only") == "Only vectors whose id begins or ends with this; repeatable."
    assert help_of("require") == "Fail if anything listed in this YAML file is not supported."


def test_lists_with_commas() -> None:
    assert split_commas(["f32, f16", "bf16"]) == ("f32", "f16", "bf16")
    assert parse_ranks(["4", "3,5"]) == (4, 3, 5)


@pytest.mark.parametrize("text", ["", "4,", "-1", "four", "1" * 10, "٤"])
def test_a_rank_that_is_no_number(text: str) -> None:
    with pytest.raises(UsageError, match="there is no rank"):
        parse_ranks([text])
