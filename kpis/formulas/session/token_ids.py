"""Token ids without a tokenizer: a seed gives the same ids everywhere, and seeds make workloads that share prefixes.

The generator is the usual linear congruential one of the C library, begun at ``2463534242 + seed``; ids are its states
modulo the vocabulary. What is shared in a workload is shared to the token, and what is not differs early, which is all
that a prefix cache sees. These are no texts, and no rate over them says anything about texts.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["VOCAB", "agents", "few_shot", "ids", "multi_turn", "tree_of_thought"]

VOCAB = 256

_SEED, _FACTOR, _ADDEND, _MASK = 2463534242, 1103515245, 12345, 0x7FFFFFFF


def ids(count: int, seed: int, vocab: int = VOCAB) -> tuple[int, ...]:
    """``count`` ids below ``vocab``."""
    return tuple(_drawn(count, seed, vocab))


def _drawn(count: int, seed: int, vocab: int) -> Iterator[int]:
    state = _SEED + seed
    for _ in range(count):
        state = (state * _FACTOR + _ADDEND) & _MASK
        yield state % vocab


def few_shot(prefix: int = 256, question: int = 16, count: int = 16, vocab: int = VOCAB) -> list[tuple[int, ...]]:
    """``count`` questions behind one preamble."""
    preamble = ids(prefix, 1001, vocab)
    return [preamble + ids(question, 2000 + each, vocab) for each in range(count)]


def multi_turn(base: int = 64, turn: int = 32, turns: int = 8, vocab: int = VOCAB) -> list[tuple[int, ...]]:
    """One conversation, sent as a whole at every turn."""
    history = ids(base, 3001, vocab)
    requests = [history]
    for each in range(1, turns):
        history += ids(turn, 3100 + each, vocab)
        requests.append(history)
    return requests


def tree_of_thought(
    root: int = 64, segment: int = 16, fanout: int = 3, depth: int = 3, vocab: int = VOCAB
) -> list[tuple[int, ...]]:
    """The leaves of a tree of ``depth`` levels below a root, in the order of a walk depth first."""

    def grown(prefix: tuple[int, ...], level: int, seed: int) -> Iterator[tuple[int, ...]]:
        if level == depth:
            yield prefix
            return
        for child in range(fanout):
            more = ids(segment, seed * 7919 + child * 131 + level * 17 + 1, vocab)
            yield from grown(prefix + more, level + 1, seed * fanout + child + 1)

    return list(grown(ids(root, 4001, vocab), 0, 1))


def agents(
    prefix: int = 128, step: int = 24, count: int = 5, turns: int = 6, vocab: int = VOCAB
) -> list[tuple[int, ...]]:
    """``count`` agents behind one system prompt, who take turns and send their whole history each time."""
    system = ids(prefix, 5001, vocab)
    histories = [system] * count
    requests = []
    for turn in range(turns):
        for agent in range(count):
            histories[agent] += ids(step, 5100 + agent * 97 + turn, vocab)
            requests.append(histories[agent])
    return requests
