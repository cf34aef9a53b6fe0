"""One core for all operators: a definition in index notation, and the visitors of its tree.

An operator's meaning is a short program of tensors (:mod:`~conformance.core.operator`), whose
expressions are typed trees (:mod:`~conformance.core.tree`). Its visitors know no operator: sizes
and indices (:mod:`~conformance.core.plain`), exact values and accepted intervals
(:mod:`~conformance.core.evaluate`, :mod:`~conformance.core.index_space`), a simulated machine
(:mod:`~conformance.core.machine`), changes of the text (:mod:`~conformance.core.changes`). Mutants
(:mod:`~conformance.core.mutants`) are such changes, paths in blocks, and habits of machines.
"""
