from __future__ import annotations

from itertools import pairwise

import pytest

from kpis.formulas.session.radix import budget_of, declared_once, hit_rate, most_reused, speedup
from kpis.formulas.session.token_ids import agents, few_shot, ids, multi_turn, tree_of_thought


def test_the_generator_by_hand() -> None:
    state = ((2463534242 + 1) * 1103515245 + 12345) & 0x7FFFFFFF
    following = (state * 1103515245 + 12345) & 0x7FFFFFFF
    assert ids(2, 1, 1000) == (state % 1000, following % 1000)
    assert ids(0, 1) == ()


@pytest.mark.parametrize("vocab", [256, 49_152, 151_936])
def test_what_is_shared_does_not_depend_on_the_vocabulary(vocab: int) -> None:
    shots, turns = few_shot(vocab=vocab), agents(vocab=vocab)
    assert (sum(most_reused(shots)), sum(most_reused(turns))) == (3840, 5512)


@pytest.mark.parametrize(
    ("requests", "count", "tokens", "reused", "rate", "faster", "declared"),
    [
        (few_shot(), 16, 4352, 3840, 0.882353, 8.5, (256, 3840)),
        (agents(), 30, 6360, 5512, 0.866667, 7.5, (128, 3712)),
    ],
    ids=["few-shot", "agents"],
)
def test_the_known_workloads(requests, count, tokens, reused, rate, faster, declared) -> None:
    assert (len(requests), sum(map(len, requests))) == (count, tokens)
    assert sum(most_reused(requests)) == reused
    assert hit_rate(reused, tokens) == pytest.approx(rate, abs=1e-6)
    assert speedup(reused, tokens) == faster
    assert declared_once(requests) == declared
    assert budget_of(requests) == 408


def test_over_declared() -> None:
    assert sum(most_reused(agents())) / declared_once(agents())[1] == pytest.approx(1.484914, abs=1e-6)
    assert sum(most_reused(few_shot())) / declared_once(few_shot())[1] == 1


def test_a_conversation_and_a_tree_share_what_they_have_to() -> None:
    turns = multi_turn()
    assert [len(each) for each in turns] == [64 + 32 * turn for turn in range(8)]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(turns))
    leaves = tree_of_thought()
    assert len(leaves) == 27
    assert {len(leaf) for leaf in leaves} == {64 + 3 * 16}
    assert len({leaf[:80] for leaf in leaves}) == 3
    assert len({leaf[:96] for leaf in leaves}) == 9
