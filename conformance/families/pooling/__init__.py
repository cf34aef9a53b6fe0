"""Pooling: means, maxima and norms over windows of the data."""

from conformance.families.pooling.family import Pooling

FAMILY = Pooling()
