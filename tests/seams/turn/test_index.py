from __future__ import annotations

import pytest

from seams.contract.turn import Durability, Forecast, Span
from seams.turn.index import CUT, RECENT, SpanIndex
from seams.turn.spans import make_span


def index_of(*texts: str, durability: Durability = Durability.SESSION) -> SpanIndex:
    index = SpanIndex()
    index.extend(make_span(step, "tool", text, durability) for step, text in enumerate(texts))
    return index


@pytest.mark.parametrize("noise", [100, 1000, 5000])
def test_the_probe_does_not_grow_with_the_noise(noise: int) -> None:
    good = ["refund fee schedule", "refund policy", "fee waiver"]
    index = index_of(*good, *(f"weather {step}" for step in range(noise)))
    rows = index.probe(Forecast(("refund fee",)))
    assert len(rows) == 35
    assert {0, 1, 2} < rows


def test_the_newest_are_always_considered() -> None:
    index = index_of(*(f"noise {step}" for step in range(100)))
    assert index.probe(Forecast()) == set(range(100 - RECENT, 100))


def test_lasting_spans_are_considered_last_and_newest_first() -> None:
    index = index_of(*(f"noise {step}" for step in range(300)), durability=Durability.DURABLE)
    assert index.probe(Forecast()) == set(range(300 - CUT, 300))
    assert index.probe(Forecast(pins=("span:4",))) == {4, *range(300 - CUT + 1, 300)}


def test_the_cut_takes_pins_before_relevance_and_rare_words_before_common_ones() -> None:
    texts = [f"common {step}" for step in range(50)] + ["common rarest", "pinned"] + ["noise"] * 50
    index = index_of(*texts)
    forecast = Forecast(("common rarest",), pins=("span:51", "span:unknown"))
    assert index.probe(forecast, cut=1) == {51}
    assert index.probe(forecast, cut=2) == {50, 51}
    assert index.probe(forecast, cut=3) == {49, 50, 51}


def test_more_pins_than_the_cut_keep_the_newest() -> None:
    index = index_of(*(f"noise {step}" for step in range(10)))
    pins = tuple(f"span:{step}" for step in range(10))
    assert index.probe(Forecast(pins=pins), cut=4) == {6, 7, 8, 9}


def test_an_empty_index_names_nothing() -> None:
    assert SpanIndex().probe(Forecast(("alpha",), pins=("span:0",))) == set()


def test_it_grows_into_its_own_continuation_only() -> None:
    spans = [make_span(step, "tool", f"text {step}") for step in range(4)]
    index = SpanIndex()
    index.extend(spans[:2])
    assert len(index) == 2
    assert index.grows_into(spans)
    assert not index.grows_into(spans[:1])
    assert not index.grows_into([spans[0], spans[1]._replace(sealed=True)])


def test_spans_out_of_step_order_are_refused_without_a_word_of_them() -> None:
    early, late = (Span("a secret", step, "tool", "tool: a secret", "d", 1) for step in (0, 1))
    with pytest.raises(ValueError, match="Row 1 is of step 0, after step 1") as caught:
        SpanIndex().extend([late, early])
    assert "secret" not in str(caught.value)
