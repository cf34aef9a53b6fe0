"""Common words of the catalogue, mapped to the names of a specification.

A word stands for what a specification gives that role (``roles``), for what its rules show (the
attribute that windows move by), for its own name of the same spelling, or for what follows from
its rules (the padding before the first window).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from conformance.errors import UsageError, closest
from conformance.spec.family import FamilyVocabulary
from conformance.spec.family_index import family_of
from conformance.spec.folding import FALSE, folded
from conformance.spec.model import OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.yaml_reader import KEPT

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one specification, each with a name or an expression in its names.

    ``given`` is what its family says of them.
    """

    spec: OpSpec
    given: FamilyVocabulary
    words: Mapping[str, str]

    def spoken(self, text: str) -> str:
        """Translate an expression of the catalogue into the specification's own names.

        Raises :class:`~conformance.errors.ExpressionError` for what is no expression.
        """
        return folded(self._in_own_names(text), self.spec.ranks, self.spec.layout.axes)

    def _in_own_names(self, text: str) -> str:
        return _WORD.sub(lambda match: self.words.get(match[0], match[0]), text)

    def replaced(self, replace: Mapping[str, str]) -> dict[str, str]:
        """Translate the replacements of the catalogue into the specification's own names.

        Raises :class:`~conformance.errors.UsageError` where it has nothing to replace.
        """
        replaced: dict[str, str] = {}
        added: dict[str, list[str]] = {}
        through = self.given.through
        for word, text in replace.items():
            own_name = self.words.get(word, word)
            if _WORD.fullmatch(own_name) and (own_name in self._replaceable or word not in through):
                replaced[own_name] = self.spoken(text)
            elif word in through:
                rule, template = through[word]
                new = self.spoken(re.sub(r"\boriginal\b", word, text))
                change = self._in_own_names(template).format(old=own_name, new=f"({new})")
                added.setdefault(rule, []).append(change)
            else:
                raise UsageError(
                    f"{self.spec.op} has no rule '{word}' to replace",
                    hint=closest(word, self._replaceable),
                    lacks=word,
                )
        for rule, changes in added.items():
            if rule in replaced:
                raise UsageError(f"'{rule}' of {self.spec.op} is replaced twice")
            replaced[rule] = " + ".join(["original", *changes])
        return replaced

    @cached_property
    def _replaceable(self) -> set[str]:
        return {*self.spec.definitions, *self.spec.quantities} - self.spec.dims.keys()


@lru_cache(maxsize=KEPT)
def vocabulary(spec: OpSpec) -> Vocabulary:
    """Return the words of a specification."""
    family_words = family_of(spec.family).words(spec)
    scope = scope_of(spec)
    names = {"T": spec.data.type, **family_words.shown, **spec.roles}
    renamed = {word: name for word, name in names.items() if word != name}
    renamed = {
        word: name if _WORD.fullmatch(name) else f"({name})" for word, name in renamed.items()
    }
    numbers = {name for name, kind in scope.items() if kind.type == "int"}
    for word, text in family_words.derived(numbers | names.keys()):
        if word not in scope and word not in names:
            own_text = Vocabulary(spec, family_words, renamed)._in_own_names(text)
            renamed[word] = own_text if own_text == FALSE else f"({own_text})"
    return Vocabulary(spec, family_words, renamed)
