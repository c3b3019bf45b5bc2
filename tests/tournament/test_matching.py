"""Matching: what is found among few edges is as cheap as what a slow search of all of them finds."""

from importlib import import_module
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.pairing.blossoms import Edge, Matcher
from tournament.pairing.matching import (
    CHEAPEST,
    NEVER,
    SPREAD,
    Digits,
    any_matching,
    cheaper_edges,
    likely,
    perfect,
)

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32 - 1)
dearest = st.sampled_from((0, 1, 3, 10, 1_000, 10**12, 10**30))


def priced(count: int, dearest: int, seed: int, never: float = 0.0) -> Any:
    """Prices by lot, some of which are those of a bye that not everybody may have."""
    random = Random(seed)
    prices = np.full((count, count), NEVER, dtype=np.int64 if dearest < 2**50 else object)
    for one in range(count):
        for other in range(one):
            if one < count - 1 or not other or random.random() >= never:
                prices[one, other] = prices[other, one] = random.randint(0, dearest)
    return prices


def cost(prices: Any, edges: list[Edge]) -> int:
    return sum(int(prices[edge]) for edge in edges)


def cheapest(prices: Any) -> int:
    """What the cheapest perfect matching costs, by networkx."""
    networkx: Any = import_module("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from(
        (one, other, -int(prices[one, other]))
        for one in range(len(prices))
        for other in range(one)
        if prices[one, other] != NEVER
    )
    return cost(prices, networkx.max_weight_matching(graph, maxcardinality=True))


def kinds(count: int, seed: int) -> Any:
    """One kind, of which few edges are searched at first; or several."""
    return np.array([Random(seed).randint(0, seed % 4) * vertex % 3 for vertex in range(count)])


@given(half=st.integers(1, 18), dearest=dearest, seed=seeds, never=st.sampled_from((0.0, 0.5, 0.9)))
def test_everybody_is_matched_once_and_no_matching_is_cheaper(
    half: int, dearest: int, seed: int, never: float
) -> None:
    prices = priced(2 * half, dearest, seed, never)
    edges = perfect(prices, kinds(2 * half, seed))
    assert sorted(vertex for edge in edges for vertex in edge) == list(range(2 * half))
    assert not any(prices[edge] == NEVER for edge in edges)
    assert cost(prices, edges) == cheapest(prices)


@given(half=st.integers(1, 12), dearest=dearest, seed=seeds)
def test_edges_that_join_one_by_one_make_it_as_cheap_as_all_at_once(
    half: int, dearest: int, seed: int
) -> None:
    """From any matching at all, which is the worst to begin with."""
    prices = priced(2 * half, dearest, seed)
    matcher = Matcher(2 * half)
    for one, other in any_matching(prices):
        matcher.join(one, other, 2 * int(prices[one, other]))
    matcher.dual = [min(near.values()) // 2 for near in matcher.near]
    twice = np.where(prices == NEVER, NEVER, 2 * prices)
    matcher.complete()
    digits = Digits(twice)
    while cheaper := cheaper_edges(digits, matcher):
        matcher.add([(*cheaper[0], int(twice[cheaper[0]]))])
        matcher.complete()
    assert sum(int(prices[edge]) for edge in enumerate(matcher.mate)) == 2 * cheapest(prices)


def wanted_by_all(count: int, seed: int) -> Any:
    """Prices so low for meeting one of ten vertices that these are what is cheapest for all."""
    random = Random(seed)
    prices = np.full((count, count), NEVER, dtype=np.int64)
    for one in range(count):
        for other in range(one):
            dear = 100 if other >= 10 else 0
            prices[one, other] = prices[other, one] = dear + random.randint(0, 99)
    return prices


@given(half=st.integers(13, 20), seed=seeds)
def test_it_is_the_cheapest_where_all_want_the_same_few(half: int, seed: int) -> None:
    prices = wanted_by_all(2 * half, seed)
    edges = perfect(prices, np.zeros(2 * half, np.int64))
    assert cost(prices, edges) == cheapest(prices)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_searched_at_first_is_not_enough_where_all_want_the_same_few(seed: int) -> None:
    """Otherwise the test above would prove nothing of edges that join."""
    prices = wanted_by_all(40, seed)
    few = likely(prices, np.zeros(40, np.int64))
    assert few.shape == (40, CHEAPEST + SPREAD)
    only = np.full_like(prices, NEVER)
    for one, others in enumerate(few.tolist()):
        only[one, others] = prices[one, others]
        only[others, one] = prices[others, one]
    for one, other in any_matching(prices):
        only[one, other] = only[other, one] = prices[one, other]
    assert cheapest(only) > cheapest(prices)


@pytest.mark.parametrize("count", [10, 60])
def test_numbers_too_large_for_64_bits_are_matched_alike(count: int) -> None:
    prices = priced(count, 1_000, 1)
    large = np.where(prices == NEVER, NEVER, prices.astype(object) * 2**70)
    assert cost(large, perfect(large, kinds(count, 0))) == 2**70 * cost(
        prices, perfect(prices, kinds(count, 0))
    )
