"""The risk and the worth of single results against the published figures, to all four places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.evaluation.accuracy import Counts
from harness.judge.evaluation.draws import Procedure, betas, fnv1a
from harness.judge.evaluation.figures import half_up
from harness.judge.evaluation.predictive import after_fire, miss_rate, ppv
from harness.judge.evaluation.risk import Detector, RiskEstimate, class_prior, detectors_of, estimate
from kpis.terms.evaluation_words import FailureClass, RuleKind
from tests.harness.judge.evaluation.made import DETECTORS, TABLE, detectors, facts, fired, skipped

GOLDEN = [
    (4, "", 0.5, "per-output", 0.1598, 0.1214, 0.2036),
    (5, "", 0.5, "per-output", 0.1449, 0.1075, 0.1844),
    (6, "", 0.5, "per-output", 0.1284, 0.0957, 0.1665),
    (4, "stub", 0.5, "per-output", 0.5412, 0.3971, 0.7513),
    (5, "stub", 0.5, "per-output", 0.4940, 0.3489, 0.7014),
    (6, "stub", 0.5, "per-output", 0.4518, 0.3133, 0.6717),
    (4, "fabrication", 0.5, "per-output", 0.9193, 0.7168, 0.9999),
    (6, "fabrication", 0.5, "per-output", 0.8862, 0.6011, 0.9999),
    (6, "silent", 0.5, "per-output", 0.7895, 0.4636, 0.9998),
    (5, "silent", 0.5, "per-output", 0.8176, 0.5061, 0.9998),
    (6, "loop", 0.5, "per-output", 0.8012, 0.4875, 0.9996),
    (6, "silent loop", 0.5, "per-output", 0.9520, 0.8240, 1),
    (4, "pii", 0.5, "per-output", 0.7705, 0.6003, 0.9322),
    (6, "pii", 0.5, "per-output", 0.6788, 0.4988, 0.8907),
    (4, "injection", 0.5, "per-output", 0.9439, 0.7781, 1),
    (6, "injection", 0.5, "per-output", 0.9193, 0.7018, 0.9999),
    (6, "pii injection", 0.5, "per-output", 0.9703, 0.8828, 1),
    (4, "stub fabrication", 0.5, "per-output", 0.9559, 0.8485, 0.9999),
    (6, "", 0.5, "per-class", 0.6957, 0.5844, 0.7801),
    (6, "", 0.1, "per-output", 0.0201, 0.0148, 0.0267),
    (6, "stub", 0.1, "per-output", 0.0997, 0.0591, 0.2207),
    (6, "loop", 0.1, "per-output", 0.3445, 0.1093, 0.9991),
    (4, "", 0, "per-output", 0, 0, 0),
    (4, "", 1, "per-output", 1, 1, 1),
]


def risk(count: int, firing: str = "", prior: float = 0.5, mode: str = "per-output") -> RiskEstimate:
    found = estimate(detectors_of(detectors(count, *firing.split()), TABLE), TABLE.version, prior, mode)
    assert found is not None
    return found


@pytest.mark.parametrize(("count", "firing", "prior", "mode", "p_bad", "low", "high"), GOLDEN)
def test_the_published_risks(
    count: int, firing: str, prior: float, mode: str, p_bad: float, low: float, high: float
) -> None:
    found = risk(count, firing, prior, mode)
    assert (found.p_bad, found.low, found.high) == (p_bad, low, high)


@pytest.mark.parametrize(("firing", "p_bad", "low", "high"), [(False, 0.0381, 0, 0.1479), (True, 0.9703, 0.8709, 1)])
def test_one_detector_alone(firing: bool, p_bad: float, low: float, high: float) -> None:
    counts = TABLE.of("no_tool_loop", 1)
    assert counts is not None
    alone = Detector("no_tool_loop", (FailureClass.TOOL_LOOP,), firing, counts)
    found = estimate([alone], TABLE.version, 0.5, "per-output")
    assert found is not None
    assert (found.p_bad, found.low, found.high) == (p_bad, low, high)


def test_the_classes_of_a_clean_text_and_of_all() -> None:
    text, everything = risk(4).per_class, risk(6).per_class
    assert list(text) == list(FailureClass)
    assert {name.value: chance for name, chance in text.items() if chance is not None} == {
        "pii_leak": 0.0402,
        "credential_leak": 0.0402,
        "injection": 0.0052,
        "stub": 0.0465,
        "fabrication": 0.0385,
    }
    known = {name.value: chance for name, chance in everything.items() if chance is not None}
    assert known == {
        "pii_leak": 0.0285,
        "credential_leak": 0.0285,
        "injection": 0.0037,
        "silent_tool_failure": 0.0106,
        "tool_loop": 0.0041,
        "stub": 0.0330,
        "fabrication": 0.0272,
    }


@pytest.mark.parametrize(
    ("examined", "each"),
    [(5, 0.12944943670387588), (6, 0.10910128185966073), (7, 0.09427633573609329), (1, 0.5), (0, 0.5)],
)
def test_the_prior_is_spread_over_the_classes(examined: int, each: float) -> None:
    assert class_prior(0.5, "per-output", examined) == each
    assert class_prior(0.5, "per-class", examined) == 0.5


def test_the_prior_of_a_seed_has_three_places_with_ties_upwards() -> None:
    assert risk(4, prior=0.33333).assumptions[-1] == "prior 0.33333, per-output"
    assert risk(4, prior=1).assumptions[-1] == "prior 1, per-output"
    for prior, told, other in ((0.0625, "0.063", "0.062"), (0.3125, "0.313", "0.312"), (0.33333, "0.333", "0.33333")):
        found = estimate([LOOP], TABLE.version, prior, "per-output")
        assert found is not None
        assert (found.low, found.high) == _drawn(prior, told) != _drawn(prior, other)


LOOP = Detector("no_tool_loop", (FailureClass.TOOL_LOOP,), True, TABLE.rows["no_tool_loop"])


def _drawn(prior: float, told: str) -> tuple[float, float]:
    """The interval of LOOP alone, when the seed says ``told`` of the prior: what a fire is worth, 2,000 times."""
    counts = LOOP.counts
    shapes = ((counts.tp + 0.5, counts.fn + 0.5), (counts.tn + 0.5, counts.fp + 0.5))
    seed = fnv1a(f"risk:{TABLE.version}:per-output:{told}:no_tool_loop!")
    worths = sorted(after_fire(s, t, prior) for s, t in betas(seed, shapes, Procedure.RISK).tolist())
    point = after_fire(counts.sensitivity(), counts.specificity(), prior)
    return half_up(min(worths[49], point), 4), half_up(max(worths[1949], point), 4)


PUBLISHED = [
    ("no_pii", (0.8788, 0.7711, 0.9474), (0.2144, 0.1323, 0.3044)),
    ("no_injection_patterns", (1, 0.9503, 1), (0.0233, 0.0026, 0.0970)),
    ("no_stub_output", (0.8704, 0.7556, 0.9472), (0.2423, 0.1594, 0.3327)),
    ("no_hallucination_markers", (1, 0.9312, 1), (0.2069, 0.1317, 0.2869)),
    ("no_silent_tool_failure", (1, 0.8606, 1), (0.0667, 0.0083, 0.2467)),
    ("no_tool_loop", (1, 0.8772, 1), (0, 0, 0.1562)),
]


@pytest.mark.parametrize(("rule", "fire", "silence"), PUBLISHED)
def test_the_published_worth_of_a_fire_and_of_silence(
    rule: str, fire: tuple[float, ...], silence: tuple[float, ...]
) -> None:
    counts = TABLE.of(rule, 1)
    assert counts is not None
    for found, published in (
        (ppv(rule, TABLE.version, counts, 0.5, half=0), fire),
        (miss_rate(rule, TABLE.version, counts, 0.5, half=0), silence),
    ):
        assert (found.point, found.low, found.high) == published


def test_with_half_counts_a_family_without_an_error_is_not_certain() -> None:
    counts = TABLE.of("no_tool_loop", 1)
    assert counts is not None
    assert ppv("no_tool_loop", TABLE.version, counts, 0.5).point == pytest.approx(0.9703)
    assert 0 < miss_rate("no_tool_loop", TABLE.version, counts, 0.5).point < 0.05
    assert ppv("no_tool_loop", TABLE.version, counts, 0.0).point == 0, "where nothing can be bad no fire is right"
    assert miss_rate("x", TABLE.version, Counts(0, 3, 0, 0), 0.0, half=0.5).point == 0


def test_who_enters_the_risk() -> None:
    pii = DETECTORS["pii"]
    custom = facts("no_pii", custom=True, classes=pii.classes)
    measured = facts("min_output_length", RuleKind.MEASUREMENT, (FailureClass.FORMAT,))
    policy = facts("no_blocklist_words", RuleKind.POLICY)
    unknown = facts("somebody_elses", classes=(FailureClass.STUB,))
    every = [skipped(pii), fired(custom), fired(measured), fired(policy), fired(unknown)]
    assert detectors_of(every, TABLE) == ()
    assert detectors_of([fired(pii)], None) == ()
    assert [each.name for each in detectors_of([fired(pii), *every], TABLE)] == ["no_pii"]
    assert estimate((), TABLE.version, 0.5, "per-output") is None


def test_a_corpus_without_positives_or_negatives_measures_nothing() -> None:
    assert not Counts(0, 1, 0, 9).measured
    assert not Counts(3, 0, 1, 0).measured


CLASSES = [FailureClass.STUB, FailureClass.TOOL_LOOP, FailureClass.OFF_TASK]
_counts = st.builds(Counts, *[st.integers(0, 40)] * 4).filter(lambda counts: counts.measured)


@given(_counts, _counts, st.floats(0.01, 0.99))
def test_one_more_fire_in_a_new_class_never_lowers_the_risk(one: Counts, other: Counts, prior: float) -> None:
    """At a fixed prior of each class; spread over the output, the new class takes from the prior of the others."""
    first = Detector("a", (CLASSES[0],), True, one)
    second = Detector("b", (CLASSES[1],), True, other)
    alone = estimate([first], "v", round(prior, 2), "per-class")
    both = estimate([first, second], "v", round(prior, 2), "per-class")
    assert alone is not None
    assert both is not None
    assert both.p_bad >= alone.p_bad
    for found in (alone, both):
        assert 0 <= found.low <= found.p_bad <= found.high <= 1


def test_a_quiet_detector_of_a_new_class_lowers_the_risk_of_an_unrelated_fire() -> None:
    assert risk(4, "stub").p_bad > 0.5 > risk(6, "stub").p_bad
    assert risk(6, "stub", mode="per-class").p_bad > risk(4, "stub", mode="per-class").p_bad
