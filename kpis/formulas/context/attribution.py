"""Of what a metered prompt is made: tokens by bucket, which sum to the prompt exactly.

The price of a node is the meter's; only its bucket is decided here. A leaf checkpoint holds state, rationale and frame
in one node: the first two are estimated at four characters a token, the rest is the frame. What cannot be told apart
stays in the envelope and is never spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.context.values import RecordError

__all__ = ["Bucket", "LeafText", "PricedNode", "attribute"]

CHARS_PER_TOKEN = 4


class Bucket(Enum):
    """Where the tokens of a prompt come from."""

    SYSTEM = "system"
    TOOL_SCHEMA = "tool-schema"
    RAW_USER = "raw-user"
    RAW_ASSISTANT = "raw-assistant"
    RAW_TOOL_RESULT = "raw-tool-result"
    CHECKPOINT_ROOT = "checkpoint-root"
    CHECKPOINT_BASIC = "checkpoint-basic"
    CHECKPOINT_LEAF_STATE = "checkpoint-leaf-state"
    CHECKPOINT_LEAF_RATIONALE = "checkpoint-leaf-rationale"
    CHECKPOINT_FRAMING = "checkpoint-framing"
    CHECKPOINT_IDENTITY = "checkpoint-identity"
    RECALL = "recall"
    UNATTRIBUTED_ENVELOPE = "unattributed-envelope"


@dataclass(frozen=True, slots=True)
class LeafText:
    """How many characters of a leaf checkpoint are state, and how many rationale."""

    state_chars: int
    rationale_chars: int


@dataclass(frozen=True, slots=True)
class PricedNode:
    """A node of the prompt with the meter's price; of a leaf checkpoint ``leaf`` says its parts."""

    id: str
    tokens: int
    bucket: Bucket
    leaf: LeafText | None = None


def attribute(
    nodes: Sequence[PricedNode], prompt: int, tool_schema: int = 0, measured: Iterable[str] | None = None
) -> dict[Bucket, int]:
    """Tokens by bucket, all of them named; they sum to ``prompt``.

    ``tool_schema`` are tokens of schemas that are no node; ``measured`` are the ids that the meter priced, in order.

    Raises:
        RecordError: the meter priced other nodes, the parts exceed the prompt, or a leaf's parts exceed its node.
    """
    if measured is not None and list(measured) != [node.id for node in nodes]:
        raise RecordError("The prices are of another list of nodes than the request's: the measurement is stale.")
    tokens = dict.fromkeys(Bucket, 0)
    for node in nodes:
        if node.leaf is None:
            tokens[node.bucket] += node.tokens
            continue
        state, rationale = _price(node.leaf.state_chars), _price(node.leaf.rationale_chars)
        if state + rationale > node.tokens:
            raise RecordError(
                f"The parts of checkpoint {node.id} take {state + rationale:,} of {node.tokens:,} tokens."
            )
        tokens[Bucket.CHECKPOINT_LEAF_STATE] += state
        tokens[Bucket.CHECKPOINT_LEAF_RATIONALE] += rationale
        tokens[Bucket.CHECKPOINT_FRAMING] += node.tokens - state - rationale
    tokens[Bucket.TOOL_SCHEMA] += tool_schema
    rest = prompt - sum(tokens.values())
    if rest < 0:
        raise RecordError(f"The nodes of a request take {prompt - rest:,} tokens of a prompt of {prompt:,}.")
    tokens[Bucket.UNATTRIBUTED_ENVELOPE] += rest
    return tokens


def _price(chars: int) -> int:
    return math.ceil(chars / CHARS_PER_TOKEN)
