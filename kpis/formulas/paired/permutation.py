"""Could labels alone make one arm so much better: a one-sided permutation test inside blocks, exact or sampled.

A block is all arms on one case and replicate. Under the null hypothesis the labels of *all* arms are exchangeable in
it, so that the two compared arms hold any two of its results; swapping only those two asks another question. Scores are
integers and compared as integers: rates compared as floats lose ties, and moved published values by .07.

A block in which every arm scored the same says nothing, whatever the labels: it takes no time here, and no draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from kpis.formulas.paired.bootstrap import SEED, mulberry32

__all__ = ["MOST_EXACT", "SAMPLES", "Permutation", "blocks_of", "exact", "permuted", "sampled"]

SAMPLES = 20_000

MOST_EXACT = 2_000
"""Blocks with different scores up to which all labellings are counted, in a few seconds; beyond, they are sampled."""

Block = Mapping[str, int]
"""The integer score of each arm on one case and replicate: 1 for a pass, 0 for a failure."""


@dataclass(frozen=True, slots=True)
class Permutation:
    """``observed``: the candidate's score less the reference's. ``reaching`` of ``total`` labellings reach it.

    A labelling is a place for each of the two compared labels in every block; where the others fall changes nothing.
    """

    observed: int
    reaching: int
    total: int
    exact: bool

    @property
    def p(self) -> float:
        """One-sided. A sampled one counts the observed labelling too, so that it is never 0."""
        return self.reaching / self.total if self.exact else (self.reaching + 1) / (self.total + 1)


def blocks_of(rows: Sequence[tuple[tuple[object, ...], str, int]]) -> list[dict[str, int]]:
    """Blocks from rows of (what makes the block, arm, score), in order of first appearance.

    Raises:
        ValueError: an arm has two scores in one block.
    """
    blocks: dict[tuple[object, ...], dict[str, int]] = {}
    for key, arm, score in rows:
        block = blocks.setdefault(key, {})
        if arm in block:
            raise ValueError(f"{arm} has two scores in block {key}; a block holds each arm once")
        block[arm] = score
    return list(blocks.values())


def _observed(blocks: Sequence[Block], candidate: str, reference: str) -> int:
    for block in blocks:
        if candidate not in block or reference not in block:
            raise ValueError(f"a block lacks {candidate} or {reference}: it holds {', '.join(sorted(block))}")
    if not blocks or candidate == reference:
        raise ValueError("a permutation needs two different arms and a block that holds both")
    return sum(block[candidate] - block[reference] for block in blocks)


def exact(blocks: Sequence[Block], candidate: str, reference: str) -> Permutation:
    """All labellings, by convolution over blocks: each ordered pair of a block's scores is as likely as any other.

    Raises:
        ValueError: a block lacks one of the two arms, or there is none.
    """
    observed = _observed(blocks, candidate, reference)
    ways, alike = Counter({0: 1}), 1
    for block in blocks:
        if not _differs(block):
            alike *= len(block) * (len(block) - 1)
            continue
        steps = Counter(ours - theirs for ours, theirs in permutations(block.values(), 2))
        longer: Counter[int] = Counter()
        for so_far, count in ways.items():
            for step, times in steps.items():
                longer[so_far + step] += count * times
        ways = longer
    reaching = sum(count for difference, count in ways.items() if difference >= observed)
    return Permutation(observed, reaching * alike, sum(ways.values()) * alike, exact=True)


def _differs(block: Block) -> bool:
    return len(set(block.values())) > 1


def sampled(
    blocks: Sequence[Block], candidate: str, reference: str, samples: int = SAMPLES, seed: int = SEED
) -> Permutation:
    """``samples`` labellings drawn by mulberry32, for blocks whose scores take too many values to enumerate.

    Raises:
        ValueError: as :func:`exact`, or ``samples`` is not positive.
    """
    if samples < 1:
        raise ValueError(f"{samples} samples are no test")
    observed = _observed(blocks, candidate, reference)
    draw = mulberry32(seed)
    scores = [tuple(block.values()) for block in blocks if _differs(block)]
    reaching = 0
    for _ in range(samples):
        difference = 0
        for block in scores:
            # The two compared labels fall on two different places; where the others fall does not matter.
            first = int(draw() * len(block))
            second = int(draw() * (len(block) - 1))
            difference += block[first] - block[second + (second >= first)]
        reaching += difference >= observed
    return Permutation(observed, reaching, samples, exact=False)


def permuted(blocks: Sequence[Block], candidate: str, reference: str, seed: int = SEED) -> Permutation:
    """The exact test, or with more than :data:`MOST_EXACT` blocks of different scores the sampled one.

    Raises:
        ValueError: as :func:`exact`.
    """
    if sum(map(_differs, blocks)) <= MOST_EXACT:
        return exact(blocks, candidate, reference)
    return sampled(blocks, candidate, reference, seed=seed)
