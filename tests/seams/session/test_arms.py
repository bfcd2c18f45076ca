from __future__ import annotations

import numpy as np
import pytest

from seams.engines.tiny import TinyModel
from seams.session.arms import TinyServer, offer

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


def test_a_prompt_says_the_same_whole_in_pieces_and_behind_a_copied_prefix() -> None:
    server = offer("none")
    _, whole = server.read(PROMPT)
    held, _ = server.read(PROMPT[:3])
    copy, other = server.clone(held, 2)
    _, pieced = server.read(PROMPT[3:], held)
    _, shared = server.read(PROMPT[3:], copy)
    assert whole.tobytes() == pieced.tobytes() == shared.tobytes()
    assert [len(each) for each in (held, copy, other)] == [8, 8, 3]


def test_a_step_of_several_sessions_is_a_step_of_each() -> None:
    server = TinyServer(TinyModel(seed=2))
    prompts = [PROMPT, PROMPT[::-1]]
    together = [server.read(each)[0] for each in prompts]
    alone = [server.read(each)[0] for each in prompts]
    stepped = server.decode([7, 8], together)
    for token, held, logits in zip([7, 8], alone, stepped, strict=True):
        assert np.array_equal(server.decode([token], [held])[0], logits)
        assert len(held) == 9


def test_bad_input_is_a_sentence_and_changes_nothing() -> None:
    server = offer("none")
    held, _ = server.read(PROMPT)
    with pytest.raises(ValueError, match="one id for each"):
        server.decode([1, 2], [held])
    with pytest.raises(ValueError, match="not in the model's vocabulary"):
        server.decode([server.vocab], [held])
    with pytest.raises(ValueError, match="no id at all"):
        server.read([], held)
    with pytest.raises(ValueError, match="0 agents"):
        server.clone(held, 0)
    with pytest.raises(TypeError, match="A list is no session"):
        server.read([1], [])
    assert len(held) == len(PROMPT)
