"""The pytest plugin: ``pytest --conformance-backend mylib`` runs each vector as a test.

pytest imports this module in every project of an environment that has the package, so it imports
nothing but pytest: without the option it costs nothing and changes nothing.
"""

from __future__ import annotations

import pytest


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
    group.addoption(
        "--conformance-op",
        metavar="OP",
        action="append",
        help="Only this operator, or those that match a pattern such as 'onnx.*'; repeatable.",
    )
    group.addoption(
        "--conformance-level",
        choices=["must", "should"],
        default="must",
        help="must: any allowed interpretation of the document passes. should: only the expected "
        "one. Default: must.",
    )
    group.addoption(
        "--conformance-precision",
        metavar="P|T=P,..",
        default="standard",
        help="exact, standard or native, or one per element type (f16=native,f32=standard). "
        "Default: standard.",
    )
    group.addoption(
        "--conformance-known-failures",
        metavar="FILE",
        help="Failures listed in this YAML file are expected (xfail).",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin proper, but only if a backend is to be tested."""
    # An empty name is asked for too, and refused: a variable that is not set must not be green.
    if config.getoption("conformance_backend") is not None:
        from conformance.pytest_plugin.session import VectorSession

        config.pluginmanager.register(VectorSession(config), "conformance-vectors")
