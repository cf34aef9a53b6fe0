"""The pytest plugin: ``pytest --conformance-backend mylib`` runs each vector as a test.

pytest imports this module in every project of an environment that has the package, so it imports
only pytest and the list of options: without the option it costs nothing and changes nothing.
"""

from __future__ import annotations

import pytest

from conformance.check_options import (
    DEFAULTS,
    OPTIONS,
    SESSION_OPTIONS,
    flag_of,
    help_of,
    is_repeatable,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, named and spelled as those of ``conformance check``."""
    group = parser.getgroup("conformance", "conformance of a backend (opconform)")
    group.addoption(
        "--conformance-backend",
        metavar="NAME",
        help="Test this backend, one test a vector: a name (conformance backends), a "
        "package.module:object or a path/to/file.py:object.",
    )
    group.addoption(
        "--conformance-suite",
        metavar="DIR|NAME",
        help="The suite; the shipped core suite if left out.",
    )
    for name in SESSION_OPTIONS:
        default = getattr(DEFAULTS, name)
        group.addoption(
            f"--conformance-{flag_of(name).removeprefix('--')}",
            dest=f"conformance_{name}",
            metavar=OPTIONS[name].metavar,
            action="append" if is_repeatable(name) else "store",
            choices=OPTIONS[name].choices or None,
            default=None if is_repeatable(name) else default,
            help=_help(name) + (f" Default: {default}." if default else ""),
        )


def _help(name: str) -> str:
    if name == "known_failures":
        return "Failures listed in this YAML file are expected (xfail)."
    return help_of(name)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin proper, but only if a backend is to be tested."""
    # An empty name is given too, and refused: a variable that is not set must not be green.
    if config.getoption("conformance_backend") is not None:
        from conformance.pytest_plugin.session import VectorSession

        config.pluginmanager.register(VectorSession(config), "conformance-vectors")
