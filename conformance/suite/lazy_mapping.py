"""A mapping whose values are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class LazyMapping(Mapping[str, Value]):
    """A mapping whose values are made when they are first read."""

    def __init__(self, keys: Iterable[str], make: Callable[[str], Value]) -> None:
        self._keys, self._make = dict.fromkeys(keys), make
        self._made: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._made:
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
