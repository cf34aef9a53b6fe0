"""Families of operators: a folder for each, with all that is its own.

The package ``<name>`` has an object ``FAMILY``, see :class:`conformance.spec.family.Family`. One of
another distribution is an entry point of the group ``conformance.families``. Nothing outside the
folders knows a family: :func:`conformance.spec.family_index.family_of` finds it by name.
"""
