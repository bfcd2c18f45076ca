"""Redaction: no value of a listed field comes through, however its name is spelt and wherever it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seams.contract.arguments import NESTING
from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.decide import chain_of
from seams.syscall.grammar import Grammar, Param
from seams.syscall.kernel import fresh_kernel
from seams.syscall.policy import Policy
from seams.syscall.worlds import World

NAMES = ("password", "api_key", "cl\u00e9", "a/b", 'q"t', "\U0001f511")
CANARY = "canary-7d21"
POLICY = Policy(allow_prefixes=("get_",), redact=frozenset(NAMES))
CHAIN = chain_of(World("own", POLICY))


def spelt(name: str, how: list[int]) -> str:
    """``name`` as a JSON string, each character as it is or escaped, as ``how`` says in turn."""
    parts = []
    for at, letter in enumerate(name):
        plain = json.dumps(letter, ensure_ascii=False)[1:-1]
        units = letter.encode("utf-16-be")
        escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2))
        slash = "\\/" if letter == "/" else plain
        parts.append((plain, escaped, slash)[how[at % len(how)] % 3])
    return f'"{"".join(parts)}"'


HOW = st.lists(st.integers(0, 2), min_size=1, max_size=6)
PLAIN = st.sampled_from(["1", "true", "null", '"x"', "[]", "{}", '"password"', '"a\\\\b"'])
SECRET = st.sampled_from([f'"{CANARY}"', f'["{CANARY}"]', f'{{"deep":"{CANARY}"}}', f'{{"password":"{CANARY}"}}'])
LISTED = st.builds(lambda name, how, value: f"{spelt(name, how)}:{value}", st.sampled_from(NAMES), HOW, SECRET)
OTHER = st.builds(lambda key, value: f'"{key}":{value}', st.sampled_from("abc"), PLAIN)


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Objects whose keys may stand there twice, listed ones too, around what is inside."""
    nested = st.builds(lambda key, value: f'"{key}":{value}', st.sampled_from("abc"), inner)
    pair = st.one_of(LISTED, OTHER, nested)
    space = st.sampled_from(["", " ", "\n\t"])
    body = st.builds(lambda pairs, gap: "{" + f",{gap}".join(pairs) + gap + "}", st.lists(pair, max_size=5), space)
    return st.one_of(body, st.builds(lambda one: f"[{one},1]", body))


ARGS = st.recursive(PLAIN, objects, max_leaves=8).filter(lambda text: text.startswith("{"))


def has_twins(text: str) -> bool:
    """Whether a key stands twice in an object of the text, also in one that a reader would throw away."""
    found = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len(dict(pairs)) < len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=look)
    return found


@given(ARGS)
@example(f'{{"password":"{CANARY}","password":"[REDACTED]"}}')
@example(f'{{"a":{{"password":"{CANARY}"}},"a":1}}')
@example(f'{{"a":":","Password":"{CANARY}"}}')
@example(f'{{"p\\u0061ssword":"{CANARY}"}}')
@example(f'{{"a":[[[{{"\\ud83d\\udd11":"{CANARY}"}}]]]}}')
def test_no_listed_value_comes_through(text: str) -> None:
    call = ToolCall("get_x", text.encode(), seq=1)
    verdict = CHAIN.fold(call)
    if has_twins(text):
        assert (verdict.kind, verdict.reason) == (VerdictKind.DENY, ReasonCode.MALFORMED)
        return
    assert verdict.kind in (VerdictKind.ALLOW, VerdictKind.TRANSFORM)
    sent = call.args if verdict.new_args is None else verdict.new_args
    assert CANARY.encode() not in sent
    assert CANARY not in json.dumps(json.loads(sent)), "nor behind an escape"
    if verdict.kind == VerdictKind.TRANSFORM:
        again = CHAIN.fold(ToolCall("get_x", sent))
        assert again.kind == VerdictKind.ALLOW, "what was redacted is left alone"


@given(ARGS.filter(lambda text: not has_twins(text)))
def test_what_is_not_listed_stays(text: str) -> None:
    verdict = CHAIN.fold(ToolCall("get_x", text.encode()))

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items() if key not in NAMES}
        return [without(each) for each in value] if isinstance(value, list) else value

    sent = text.encode() if verdict.new_args is None else verdict.new_args
    assert without(json.loads(sent)) == without(json.loads(text))


@pytest.mark.parametrize("args", [b'{"password2":"x"}', b'{"q":"password"}', b'{"password":"[REDACTED]"}'])
def test_a_name_is_compared_as_a_whole(args: bytes) -> None:
    assert CHAIN.fold(ToolCall("get_x", args)).kind == VerdictKind.ALLOW


@pytest.mark.parametrize(
    "key", ["Password", "PASSWORD", "named:password", "named:API_Key", "CL\u00c9", "pa\u017f\u017fword", "API_\u212aey"]
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_name_is_known_in_any_case_and_under_its_prefix(key: str, ascii_only: bool) -> None:
    args = json.dumps({"deep": [{key: CANARY}]}, ensure_ascii=ascii_only)
    verdict = CHAIN.fold(ToolCall("get_x", args.encode()))
    assert verdict.kind == VerdictKind.TRANSFORM
    assert json.loads(verdict.new_args or b"") == {"deep": [{key: "[REDACTED]"}]}


def test_a_repair_does_not_carry_a_secret_past_the_redaction() -> None:
    """Both are rewrites of one rank, and of equals the fold keeps the earlier one."""
    grammar = Grammar((Param("name"), Param("password")), {"pass": "password", "who": "name"})
    world = World("own", Policy(allow=frozenset({"get_x"}), redact=frozenset({"password"})), {"get_x": grammar})
    for args in (
        {"who": "ada", "password": CANARY},
        {"name": "ada", "pass": CANARY},
        {"_positional": ["ada", CANARY]},
    ):
        verdict = chain_of(world).fold(ToolCall("get_x", json.dumps(args).encode()))
        assert (verdict.kind, verdict.by) == (VerdictKind.TRANSFORM, "grammar")
        assert verdict.new_args == b'{"name":"ada","password":"[REDACTED]"}'


@pytest.mark.parametrize("levels", [NESTING, NESTING + 1, 900, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")])
def test_nesting_is_bounded_by_a_number_and_not_by_the_stack(levels: int, opening: str, closing: str) -> None:
    inner = f'{{"password":"{CANARY}"}}'
    depth = levels - 2  # the object around, and the one inside
    text = f'{{"x":{opening * depth}{inner}{closing * depth}}}'
    verdict = CHAIN.fold(ToolCall("get_x", text.encode()))
    if levels <= NESTING:
        assert verdict.kind == VerdictKind.TRANSFORM
        assert CANARY.encode() not in (verdict.new_args or b"")
    else:
        assert (verdict.kind, verdict.by) == (VerdictKind.DENY, "preflight")


def test_a_duplicate_that_hides_a_deep_value_does_not_stop_it() -> None:
    text = '{"a":' + "[" * 20_000 + "]" * 20_000 + f',"a":1,"password":"{CANARY}"}}'
    verdict = CHAIN.fold(ToolCall("get_x", text.encode()))
    assert verdict.kind == VerdictKind.DENY


def test_a_megabyte_is_redacted() -> None:
    args = {"rows": [{"password": CANARY, "n": number} for number in range(30_000)]}
    verdict = CHAIN.fold(ToolCall("get_x", json.dumps(args).encode()))
    assert verdict.new_args is not None
    assert verdict.new_args.count(b"[REDACTED]") == 30_000
    assert CANARY.encode() not in verdict.new_args


def test_no_encoding_but_utf_8_is_read() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig"):
        call = ToolCall("get_x", json.dumps({"password": CANARY}).encode(encoding))
        assert CHAIN.fold(call).kind == VerdictKind.DENY


def test_in_a_kernel_the_engine_never_sees_the_value() -> None:
    kernel = fresh_kernel("default", policy=POLICY)
    result, verdict = kernel.syscall(ToolCall("get_x", f'{{"password":"{CANARY}","n":1}}'.encode()))
    assert verdict.by == "monitor"
    assert CANARY.encode() not in result.payload
    assert b"[REDACTED]" in result.payload
