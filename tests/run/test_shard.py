from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
import tiers
from hypothesis import given
from hypothesis import strategies as st

from conformance.errors import UsageError
from conformance.run.selection import select
from conformance.run.shard import Shard, shuffled
from conformance.suite.entries import Entry


def entry(i, op="A", reject=None, size=100):
    return Entry(f"f32-{i}", op, "must", "f32", reject, (), (), (), size, "0" * 64)


made = st.lists(
    st.builds(
        entry,
        st.integers(0, 10**6),
        st.sampled_from("ABC"),
        st.sampled_from([None, "r"]),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda e: e.id,
)


class TestText:
    def test_it_is_read_and_written(self):
        assert Shard.parse("3/8") == Shard(3, 8)
        assert str(Shard(10, 10)) == "10/10"

    @pytest.mark.parametrize(
        "text",
        [
            *("", "3", "3/", "/8", "0/8", "9/8", "03/8", "3/08", "-1/8", "1/0", "3 / 8"),
            *("1/9999999999", "٣/8", "3/8\n", "x" * 10_000),
        ],
    )
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(UsageError, match="there is no shard") as caught:
            Shard.parse(text)
        assert "3/8" in caught.value.hint
        assert len(caught.value.message) < 100


class TestParts:
    @given(made, st.integers(1, 9), st.randoms(use_true_random=False))
    def test_they_share_everything_evenly_in_any_order(self, entries, of, random):
        of = min(of, len(entries))
        parts = [Shard(k, of).part(entries) for k in range(1, of + 1)]
        assert sorted(e.id for part in parts for e in part) == sorted(e.id for e in entries)
        for key in (lambda e: "all", lambda e: e.op, lambda e: (e.op, e.kind)):
            whole = Counter(map(key, entries))
            for group in whole:
                sizes = [sum(key(e) == group for e in part) for part in parts]
                assert max(sizes) - min(sizes) <= 1
        mixed = random.sample(entries, len(entries))
        for k, part in enumerate(parts, 1):
            assert [e for e in entries if e in part] == list(part)
            assert set(Shard(k, of).part(mixed)) == set(part)

    def test_more_shards_than_vectors_are_refused_to_each(self):
        for k in (1, 3):
            with pytest.raises(UsageError) as caught:
                Shard(k, 3).part([entry(1), entry(2)])
            assert (
                caught.value.message == f"shard {k}/3 would be empty: 2 selected vectors, 3 shards"
            )
            assert caught.value.hint == "use at most 2, so that each has a vector"

    def test_the_shipped_suite_is_shared_by_size_too(self):
        entries = tiers.core().manifest.vectors
        sizes = [sum(e.elements for e in Shard(k, 8).part(entries)) for k in range(1, 9)]
        assert max(sizes) < 1.3 * min(sizes)


class TestOrder:
    @given(made, st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
    def test_it_depends_on_the_seed_and_the_ids_alone(self, entries, seed, random):
        drawn = shuffled(entries, seed)
        assert sorted(e.id for e in drawn) == sorted(e.id for e in entries)
        assert shuffled(random.sample(entries, len(entries)), seed) == drawn

    def test_seeds_draw_different_orders(self):
        entries = [entry(i) for i in range(20)]
        orders = {tuple(e.id for e in shuffled(entries, seed)) for seed in range(50)}
        assert len(orders) == 50

    def test_an_order_is_for_ever(self):
        """Logs name a seed; another version has to give the same order.

        That is the order of ``printf '7 A f32-0' | sha256sum`` and so on.
        """
        drawn = shuffled([entry(i) for i in range(6)], 7)
        assert [e.id for e in drawn] == ["f32-0", "f32-3", "f32-4", "f32-5", "f32-1", "f32-2"]

    def test_neighbours_are_of_several_operators(self):
        entries = [entry(i, "AB"[i >= 100]) for i in range(200)]
        changes = sum(a.op != b.op for a, b in pairwise(shuffled(entries, 1)))
        assert 60 < changes < 140


class TestSelection:
    def test_a_shard_is_counted_and_is_not_whole(self, small_suite):
        parts = [select(small_suite, ops=None, only=(), shard=Shard(k, 2)) for k in (1, 2)]
        assert not any(part.whole for part in parts)
        assert {e for part in parts for e in part.entries} == set(small_suite.manifest.vectors)
        assert [part.in_suite for part in parts] == [5, 5]
        counted = Counter()
        for part in parts:
            for op, counts in part.by_op.items():
                counted.update({(op, kind): n for kind, n in counts.items()})
        assert counted["AdaptiveAvgPool-8", "value"] == 3
        assert counted["AvgPool-1", "reject"] == 2

    def test_one_of_one_is_still_a_shard(self, small_suite):
        chosen = select(small_suite, ops=None, only=(), shard=Shard(1, 1))
        assert chosen.entries == small_suite.manifest.vectors
        assert not chosen.whole

    def test_a_shuffled_selection_counts_in_the_order_of_the_suite(self, small_suite):
        plain = select(small_suite, ops=None, only=())
        mixed = select(small_suite, ops=None, only=(), shuffle=3)
        assert mixed.entries != plain.entries
        assert set(mixed.entries) == set(plain.entries)
        assert list(mixed.by_op.items()) == list(plain.by_op.items())
        assert mixed.whole
