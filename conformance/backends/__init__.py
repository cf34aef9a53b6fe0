"""Backends: the protocol, what one may declare, and how it is found."""

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.framework_call import framework
from conformance.backends.options import Option
from conformance.backends.protocol import Backend, FunctionBackend, Unsupported

__all__ = [
    "Backend",
    "Capabilities",
    "Exclusion",
    "FunctionBackend",
    "Option",
    "Unsupported",
    "framework",
]
