from __future__ import annotations

import asyncio
import re

import numpy as np
import pytest

from harness.measure.arms import time_round
from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.session._served import CLOCKED, Served
from harness.probes.session._serving import Round
from harness.probes.session.arms import COUNTED, SIDES, Probe
from kpis.formulas.session.prefill import SESSION, Prefill, Shape, context, prefill_tokens
from seams.runtimes.reference import make
from seams.session.arms import TinyServer
from tests.harness.probes.turn.sessions import runtime

TINY = Shape(5, 3, 2, 2, 1)


def opened(kpi, server=None, **params):
    return Probe().open(kpi, make() if server is None else runtime(server), None, params)


def run(arms: Served) -> Served:
    for _, part in arms.parts():
        part()
    arms.check(None)
    return arms


def test_a_runtime_without_a_server_is_undefined() -> None:
    found = Probe().open("prefill_tokens", runtime(None), None, {"arm": "a"})
    assert found == Undefined("not-offered", "The runtime stub offers no server of sessions.")


@pytest.mark.parametrize(("arm", "tokens"), [("a", 1_100_000), ("b", 25_920), ("c", 17_728)])
def test_the_tokens_of_each_arm(arm, tokens) -> None:
    found = opened("prefill_tokens", arm=arm)
    assert (found.numerator, found.denominator, found.basis, found.source) == (tokens, None, "formula", "synthetic")
    assert found.evidence[1].endswith("a 90, b 32, c 20 prompt tokens")
    assert prefill_tokens(COUNTED) == (90, 32, 20)


@pytest.mark.parametrize(
    ("kpi", "of", "above", "below"),
    [
        ("prefill_a_over_c", {}, 1_100_000, 17_728),
        ("prefill_b_over_c", {}, 25_920, 17_728),
        ("net_value_add_vs_naive", {"of": "tokens"}, 1_100_000, 17_728),
        ("net_value_add_vs_tuned", {"of": "tokens"}, 25_920, 17_728),
        ("turn_tax_A_over_B", {"of": "tokens"}, 1_100_000, 25_920),
    ],
)
def test_ratios_of_tokens_have_both_arms_and_say_what_the_upper_is_made_of(kpi, of, above, below) -> None:
    found = opened(kpi, **of)
    assert (found.numerator, found.denominator, found.basis) == (above, below, "formula")
    assert sum(found.reasons.values()) == above
    assert found.reasons["prefix"] == SESSION.prefix * SESSION.agents * (SESSION.turns if above == 1_100_000 else 1)


RATIOS = ["net_value_add_vs_naive", "net_value_add_vs_tuned", "turn_tax_A_over_B"]


@pytest.mark.parametrize("kpi", RATIOS)
def test_the_clocked_session_is_served_in_every_arm_whichever_ratio_is_asked_for(kpi) -> None:
    arms = opened(kpi, of="clock")
    assert (arms.engine, arms.source) == ("none", "synthetic")
    names = [name for name, _ in arms.parts()]
    assert {name[0] for name in names if not name.isdecimal()} == set("abc")
    assert names == [name for name, _ in opened("net_value_add_vs_naive", of="clock").parts()]
    assert any(map(str.isdecimal, names))
    assert CLOCKED.agents > 1
    assert CLOCKED.turns > 1


def test_one_opening_hands_out_every_ratio_of_the_same_rounds() -> None:
    found = Probe().open_all(RATIOS[1], make(), None, {"of": "clock"})
    assert list(found) == RATIOS
    ratios = {kpi: arms.ratio(ROUNDS) for kpi, arms in found.items()}
    naive, tuned, tax = ((each.numerator, each.denominator) for each in ratios.values())
    assert (naive[0], naive[1], tuned[0]) == (tax[0], tuned[1], tax[1])
    said = {line for each in ratios.values() for line in each.evidence if line.startswith("of these rounds")}
    assert said == {"of these rounds a over c 8.7857 = b over c 2.7714 times a over b 3.1701"}


@pytest.mark.parametrize("params", [{"of": "tokens"}, {"arm": "b"}, {}])
def test_one_opening_hands_out_every_count_as_if_it_had_been_asked_alone(params) -> None:
    found = Probe().open_all("prefill_tokens", make(), None, params)
    assert set(found) == ({"prefill_tokens"} if "arm" in params else set(SIDES))
    assert found == {kpi: opened(kpi, **params) for kpi in found}


def test_without_a_server_every_kpi_is_undefined_together() -> None:
    found = Probe().open_all("prefill_a_over_c", runtime(None), None, {})
    assert set(found) == Probe.kpis
    assert {each.reason for each in found.values()} == {"not-offered"}


@pytest.mark.parametrize("kpi", ["prefill_a_over_c", "prefill_b_over_c"])
def test_beside_the_prompt_ratios_stand_the_web_tasks(kpi) -> None:
    told = opened(kpi).evidence[2:]
    assert told == (
        "beside it and in no number here: 643 web tasks, whose 8745 turns are guessed by their difficulty; nothing of "
        "them is served",
        "web tasks, 1 on each: a 170930292, b 19386804, c 19386804 prompt tokens; "
        "a over c 8.8168, b over c 1.0000, a over b 8.8168",
        "web tasks, 2 on each: a 341860584, b 38773608, c 36806104 prompt tokens; "
        "a over c 9.2881, b over c 1.0535, a over b 8.8168",
        "web tasks, 4 on each: a 683721168, b 77547216, c 71644704 prompt tokens; "
        "a over c 9.5432, b over c 1.0824, a over b 8.8168",
        "web tasks, 128 on each: a 21879077376, b 2481510912, c 2231637904 prompt tokens; "
        "a over c 9.8040, b over c 1.1120, a over b 8.8168",
        "web tasks, with ever more on each: a over c 9.8127",
    )
    assert all(len(each) < 400 for each in told)
    assert "web tasks" not in "".join(opened("net_value_add_vs_naive", of="tokens").evidence)


def test_a_round_that_was_served_passes_and_one_that_was_not_does_not() -> None:
    arms = Served(TinyServer(), "a", "c", TINY)
    run(arms)
    arms.parts()
    with pytest.raises(WorkNotDoneError, match="had 0 prompt tokens read, not 48"):
        arms.check(None)


def test_the_arms_hold_and_decode_the_same_bits() -> None:
    made = Round(TinyServer(), TINY, 3)
    for _, part in made.parts("abc"):
        part()
    assert made.require_done() == prefill_tokens(TINY) == (48, 14, 9)
    logits = {arm: [each.logits.tobytes() for each in agents] for arm, agents in made._agents.items()}
    assert logits["a"] == logits["b"] == logits["c"]
    assert logits["a"][0] != logits["a"][1]
    histories = [[each.history for each in agents] for agents in made._agents.values()]
    assert histories[0] == histories[1] == histories[2]


def test_no_round_has_the_ids_of_another() -> None:
    one, other = (Round(TinyServer(), CLOCKED, number) for number in (1, 2))
    assert one._prefix != other._prefix
    assert one._results != other._results


ROUNDS = [
    {
        **{str(length): 1_000_000 * length for length in (16, 33, 48, 50, 67, 84)},
        "a read": 1_200_000_000,
        "a decode": 30_000_000,
        "b prefix": 288_000_000,
        "b results": 60_000_000,
        "b decode": 40_000_000,
        "c prefix": 48_000_000,
        "c clone": 1_000_000,
        "c results": 61_000_000,
        "c decode": 30_000_000,
    },
]


def test_each_part_counts_by_the_least_of_its_rounds() -> None:
    slower = {name: 2 * ns for name, ns in ROUNDS[0].items()}
    mixed = [{**slower, "a read": ROUNDS[0]["a read"]}, {**ROUNDS[0], "a read": 9 * ROUNDS[0]["a read"]}]
    arms = Served(TinyServer(), "a", "c")
    assert arms.ratio(mixed).numerator == arms.ratio(ROUNDS).numerator == 1_230_000_000
    assert arms.ratio(mixed).denominator == 140_000_000


def test_both_arms_and_the_cost_model_raw_and_corrected_are_printed() -> None:
    found = Served(TinyServer(), "a", "c").ratio(ROUNDS)
    text = "\n".join(found.evidence)
    assert "live=true" in found.evidence[0]
    assert "a, stateless: 1230.000 ms (read 1200.000, decode 30.000)" in text
    assert "c, one shared prefix: 140.000 ms (prefix 48.000, clone 1.000, results 61.000, decode 30.000)" in text
    assert "prompt tokens alone: 1134 over 108 = 10.5000" in text
    # A ms a token in the samples and two in the arm: twice the raw cost, and 1134 tokens of it.
    assert "(live=false): raw 1174.000 ms, corrected for drift 2308.000 ms; anchor 2.0000; of 1230.000 ms" in text
    assert "modelled over live: raw 0.9450, corrected 1.8900; decoding, a over b 0.7500" in text


def test_the_dearer_arm_has_less_of_everything_a_token_that_reading_may_cost() -> None:
    """By the call, by the token, and by the tokens that it stands behind: what the bound of the arms rests on."""
    numbers = range(CLOCKED.turns)
    at = [context(CLOCKED, turn) for turn in numbers]
    whole = [(0, length) for length in at]
    results = [(length - CLOCKED.result, length) for length in at[1:]]
    reads = {
        "a": whole * CLOCKED.agents,
        "b": [(0, CLOCKED.prefix), *results] * CLOCKED.agents,
        "c": [(0, CLOCKED.prefix), *results * CLOCKED.agents],
    }
    tokens = {arm: sum(end - start for start, end in each) for arm, each in reads.items()}
    assert Prefill(**tokens) == prefill_tokens(CLOCKED)
    for above, below in SIDES.values():
        for cost in (lambda start, end: 1, lambda start, end: sum(range(start, end))):
            above_it, below_it = (sum(cost(*read) for read in reads[arm]) / tokens[arm] for arm in (above, below))
            assert above_it < below_it


@pytest.mark.parametrize(
    ("sides", "part", "said"),
    [
        ("ac", "a read", "reading a token of a prompt takes 10582.0 us in arm a and 1705.9 in arm b"),
        ("ab", "a read", "reading a token of a prompt takes 10582.0 us in arm a and 1705.9 in arm b"),
        ("bc", "b results", "reading a token of a prompt"),
        ("bc", "b prefix", "reading a token of a prompt"),
        ("ac", "a decode", "decoding the turns takes"),
        ("ab", "a decode", "decoding the turns takes"),
        ("bc", "b decode", "decoding the turns takes"),
    ],
)
def test_a_server_that_is_slow_in_the_dearer_arm_alone_makes_no_ratio(sides, part, said) -> None:
    slow = {**ROUNDS[0], part: 10 * ROUNDS[0][part]}
    with pytest.raises(WorkNotDoneError, match=said):
        Served(TinyServer(), *sides).ratio([slow])
    Served(TinyServer(), *sides).ratio(ROUNDS)


@pytest.mark.parametrize(("sides", "beyond"), [("bc", "a"), ("ab", "c")])
def test_an_arm_beyond_the_two_excuses_neither(sides, beyond) -> None:
    """It is served in the same rounds and is none of the ratio: slow there, a server may still not be slow above."""
    slow = {name: ns * (100 if name[0] == beyond else 1) for name, ns in ROUNDS[0].items()}
    told = Served(TinyServer(), *sides).ratio([slow])
    assert (told.numerator, told.denominator) == tuple(
        getattr(Served(TinyServer(), *sides).ratio(ROUNDS), side) for side in ("numerator", "denominator")
    )
    above = "a read" if sides[0] == "a" else "b prefix"
    with pytest.raises(WorkNotDoneError, match="reading a token"):
        Served(TinyServer(), *sides).ratio([{**slow, above: 10 * ROUNDS[0][above]}])


def test_what_came_between_in_one_agent_of_a_turn_makes_no_server_uneven() -> None:
    spent = dict(ROUNDS[0])
    whole = spent.pop("a read")
    for turn in range(CLOCKED.turns):
        for agent in range(CLOCKED.agents):
            spent[f"a read {turn}.{agent}"] = whole // 18 * (1 if agent else 100)
    found = Served(TinyServer(), "a", "c").ratio([spent])
    assert found.numerator > 10 * whole
    spent = {name: ns * (100 if name[-2:] == ".1" else 1) for name, ns in spent.items()}
    with pytest.raises(WorkNotDoneError, match="reading a token"):
        Served(TinyServer(), "a", "c").ratio([spent])


def test_each_read_is_timed_by_itself_and_told_by_what_it_is() -> None:
    names = [name for name, _ in Served(TinyServer(), "a", "c", TINY).parts() if not name.isdecimal()]
    assert len(set(names)) == len(names)
    assert [name for name in names if name.startswith("a read")] == [
        f"a read {t}.{a}" for t in range(3) for a in (0, 1)
    ]
    spent = {name: 1_000_000 for name, _ in Served(TinyServer(), "a", "c").parts()}
    told = "\n".join(Served(TinyServer(), "a", "c").ratio([spent]).evidence)
    assert re.search(r"b, one cache an agent: [0-9.]+ ms \(prefix [0-9.]+, decode [0-9.]+, results [0-9.]+\)", told)


def test_a_server_that_decodes_several_sessions_in_one_step_is_no_cheat() -> None:
    batching = {**ROUNDS[0], "c decode": ROUNDS[0]["b decode"] // CLOCKED.agents}
    assert Served(TinyServer(), "b", "c").ratio([batching]).denominator < 140_000_000


def test_the_ratios_of_one_process_multiply() -> None:
    naive, tuned, tax = (Served(TinyServer(), *SIDES[name]).ratio(ROUNDS) for name in list(SIDES)[:3])
    assert naive.numerator / naive.denominator == pytest.approx(
        tuned.numerator / tuned.denominator * tax.numerator / tax.denominator
    )
    assert "live=false" not in "".join(tuned.evidence)


class Altered(TinyServer):
    """A server of which one step does less than it should."""


class Silent(Altered):
    def read(self, ids, held=None):
        cache, logits = super().read(ids, held)
        return cache, np.zeros_like(logits)

    def decode(self, tokens, held):
        return [np.zeros(self.vocab) for _ in super().decode(tokens, held)]


class Idle(Altered):
    """Reads only the last id."""

    def read(self, ids, held=None):
        return super().read(ids[-1:], held)


class Undecoding(Altered):
    def decode(self, tokens, held):
        return [
            super(Undecoding, self).decode([token], [each.clone()])[0] for token, each in zip(tokens, held, strict=True)
        ]


class SharedCopies(Altered):
    def clone(self, held, copies):
        return [held] * copies


class Forgetful(Altered):
    """Starts over where it should go on."""

    def read(self, ids, held=None):
        return super().read(ids, None)


@pytest.mark.parametrize("server", [Silent, Idle, Undecoding, SharedCopies, Forgetful])
@pytest.mark.parametrize("params", [{"of": "tokens"}, {"of": "clock"}])
def test_a_server_that_does_not_do_its_work_is_found_out(server, params) -> None:
    with pytest.raises(WorkNotDoneError):
        found = opened("net_value_add_vs_naive", server(), **params)
        if not isinstance(found, Tally):
            run(found)


def test_an_asynchronous_server_is_awaited() -> None:
    class Slow(TinyServer):
        async def read(self, ids, held=None):
            await asyncio.sleep(0)
            return TinyServer.read(self, ids, held)

    async def tally() -> Tally:
        return await opened("prefill_b_over_c", Slow())

    assert asyncio.run(tally()).numerator == 25_920
    loop = Loop()
    spent = time_round(Served(Slow(), "b", "c", TINY), loop)
    loop.close()
    kinds = {" ".join(name.split(" ")[:2]) for name in spent if not name.isdecimal()}
    assert kinds == {name for name in ROUNDS[0] if not name.isdecimal()}


def test_evidence_fits_where_it_is_kept() -> None:
    found = Served(TinyServer(), "a", "c").ratio(ROUNDS)
    assert all(len(each) < 400 for each in found.evidence)
    assert not re.search(r"\d{10}", "".join(found.evidence))
