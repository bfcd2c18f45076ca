"""Whether the arms of a ratio were served alike: the steps are the same in each, so what one of them takes is as well.

An arm is dearer because it takes more steps. A server that is slow only where the reference arm goes, or quick only
where the other does, would make a ratio by that alone, and prompts of which the server knows whose they are would be
all that is measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from harness.measure.clock import WorkNotDoneError
from kpis.formulas.session.prefill import Shape, prefill_tokens

__all__ = ["DEARER", "require_even"]

DEARER = 3.0
"""How much more one token may take in the arm above than in the arm below, by which noise is allowed for.

Whatever reading costs, by the call, by the token, or by the tokens that it stands behind, the arm above has no more of
it a token: fewer calls, and tokens no farther behind. So it is never the dearer one but for noise. Long parts are
interrupted more often than short ones: with five programs on two processors, twice as much a token was seen.
"""

_READS = {"a": ("a read",), "b": ("b prefix", "b results"), "c": ("c prefix", "c results")}


def require_even(shape: Shape, least: Mapping[str, int], above: str, below: str) -> None:
    """Hold the ns of the parts of arm ``above`` against those of arm ``below``, token by token.

    Each turn of an arm counts by the median of its agents, so that what came between in one of them is nothing of it.
    An arm between the two is held against ``above`` as well; one beyond them, which may be slow by itself, is not.

    Raises:
        WorkNotDoneError: it reads, or decodes, a token for far more.
    """
    tokens = prefill_tokens(shape)._asdict()
    took = _typical(least)
    timed = [arm for arm in "abc" if above <= arm <= below and f"{arm} decode" in took]
    reads = {arm: sum(took[kind] for kind in _READS[arm]) / tokens[arm] for arm in timed}
    dearest = max((arm for arm in timed if arm != above), key=reads.__getitem__)
    _require("reading a token of a prompt", reads, above, dearest, DEARER)
    decodes = {arm: took[f"{arm} decode"] for arm in timed}
    # Arm c decodes its sessions in one step: of a server that batches, all of them may take as long as one.
    _require("decoding the turns", decodes, above, below, DEARER * (shape.agents if below == "c" else 1))
    if above == "a" and below != "b" and "b" in timed:
        _require("decoding the turns", decodes, "a", "b", DEARER)


def _typical(least: Mapping[str, int]) -> dict[str, float]:
    """By what is done, the ns of all its turns: each its agents' median times their number."""
    turns: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for name, ns in least.items():
        arm, _, rest = name.partition(" ")
        done, _, place = rest.partition(" ")
        turns[f"{arm} {done}", place.partition(".")[0]].append(ns)
    took: defaultdict[str, float] = defaultdict(float)
    for (kind, _), agents in turns.items():
        took[kind] += median(agents) * len(agents)
    return took


def _require(what: str, took: Mapping[str, float], above: str, below: str, most: float) -> None:
    if took[above] > most * took[below]:
        each = f"{took[above] / 1e3:.1f} us in arm {above} and {took[below] / 1e3:.1f} in arm {below}"
        raise WorkNotDoneError(f"{what} takes {each}: one server does not, on a machine that is not too busy to say")
