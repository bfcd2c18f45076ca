"""Price tables: what ships is whole and dated, a user's goes first, and a slip is one sentence."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kpis.formulas.recorded.pricing import PriceTable, cost_of, plain_id, token_cost
from kpis.formulas.recorded.sums import sums_of
from kpis.prices import PriceError, read_prices, shipped_prices, user_prices
from kpis.terms.trace import Tokens

ROW = "fresh = 1\ncache_read = 0.1\noutput = 2\nas_of = 2026-01-31\n"


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("claude-opus-4@20250514", "claude-opus-4-1"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("claude-opus-4-5-20251101", "claude-opus-5"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku"),
        ("openai/gpt-5-2025-08-07", "gpt-5"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("GPT-4.1", "gpt-4.1"),
        ("models/gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
    ],
)
def test_a_model_is_found_by_the_longest_id_that_its_own_extends(model: str, row: str) -> None:
    found = shipped_prices().find(model)
    assert found is not None
    assert found.name == row


@pytest.mark.parametrize(
    "model",
    [
        *(
            None,
            "",
            "gpt",
            "<x>",
            "gpt-5.7",
            "gpt-4-32k",
            "gpt-4o-audio",
            "claude-opus-4-9",
            "claude-opus-6",
            "llama-3",
        ),
        *("gemini-2.5-flash-preview-04-17", "gemini-2.0-flash-exp", "anthropic/claude-3-haiku:free"),
    ],
)
def test_a_newer_name_is_not_priced_as_the_one_that_it_extends(model: str | None) -> None:
    assert shipped_prices().find(model) is None


def test_every_row_that_ships_is_dated_sourced_and_cheaper_to_read_than_to_send() -> None:
    rows = shipped_prices().rows
    assert len({name for row in rows for name in row.ids}) == sum(len(row.ids) for row in rows)
    for row in rows:
        assert row.source.startswith("https://"), row.name
        assert row.as_of.year >= 2025, row.name
        for price in (row.price, *([row.long] if row.long else [])):
            assert 0 < price.cache_read <= price.fresh < price.output, row.name
            assert price.fresh <= price.write_5m <= price.write_1h, row.name
        if row.long is not None:
            assert row.above
            assert row.long.fresh > row.price.fresh


def test_writes_of_claude_models_cost_what_their_lifetime_says() -> None:
    """Five minutes cost 1.25 times fresh input and an hour twice; the oldest small model alone was rounded down."""
    for row in shipped_prices().rows:
        if row.name.startswith("claude") and row.name != "claude-3-haiku":
            assert row.price.write_5m * 4 == row.price.fresh * 5, row.name
            assert row.price.write_1h == row.price.fresh * 2, row.name


def test_prices_are_exact_in_picodollars() -> None:
    row = shipped_prices().find("claude-haiku-5-5")
    assert row is not None
    assert (row.price.cache_read, row.price.write_5m) == (10_000, 125_000)


def test_a_users_price_goes_before_ours(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[model."gpt-5"]\n{ROW}[model.local]\nids = ["llama*"]\n{ROW}', encoding="utf-8")
    table = user_prices(path, Path.read_bytes)
    mine, ours = table.find("gpt-5"), table.find("gpt-4.1")
    assert mine is not None
    assert ours is not None
    assert mine.price.fresh == 1_000_000
    assert ours.price.fresh == 2_000_000
    assert table.find("llama-3.1-70b") is not None


def test_a_users_wildcard_goes_before_a_closer_id_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[model.corp]\nids = ["claude*"]\n{ROW}', encoding="utf-8")
    table = user_prices(path, Path.read_bytes)
    for model in ("claude-sonnet-4-5-20250929", "claude-opus-4-1", "claude-9"):
        found = table.find(model)
        assert found is not None
        assert found.name == "corp"
    assert table.find("gpt-4.1") is shipped_prices().find("gpt-4.1") is not None
    assert table.as_of == min(shipped_prices().as_of, date(2026, 1, 31))


@pytest.mark.parametrize(("replaces", "ours"), [("true", False), ("false", True)])
def test_a_users_table_may_stand_alone(replaces: str, ours: bool, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'replaces = {replaces}\n[model."gpt-5"]\n{ROW}', encoding="utf-8")
    table = user_prices(path, Path.read_bytes)
    assert table.find("gpt-5") is not None
    assert (table.find("gpt-4.1") is not None) is ours
    assert ("price table" in table.name) is ours


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("replaces = 1\n[model.a]\n", "replaces must be true or false"),
        ("replace = true\n[model.a]\n", "unknown key replace (did you mean replaces?)"),
        ("replaces = true\n", "prices nothing"),
    ],
)
def test_a_slip_above_the_models_is_a_sentence_too(body: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(body, encoding="utf-8")
    with pytest.raises(PriceError) as caught:
        user_prices(path, Path.read_bytes)
    assert says in str(caught.value)
    assert str(caught.value).endswith("run `python -m harness replay` again.")


def test_one_row_and_its_sums_cost_the_same() -> None:
    row = shipped_prices().find("claude-sonnet-4-5")
    assert row is not None
    for tokens in (Tokens(1, 2, 3, 4, 5, 6, 7, 13), Tokens(unattributed=9, out_total=1), Tokens(fresh_in=3), Tokens()):
        assert token_cost(row.price, tokens) == cost_of(row.price, sums_of([tokens]))


def test_an_id_is_what_is_left_without_its_provider() -> None:
    assert plain_id("bedrock/eu.anthropic.claude-opus-4-1-20250805-v1:0") == "claude-opus-4-1-20250805-v1:0"
    assert plain_id("Azure/GPT-4o") == "gpt-4o"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"\xff", "is not UTF-8"),
        (b"[model", "is not TOML"),
        (b"", "prices nothing"),
        (b"[models.a]\n", "unknown table [models] (did you mean model?)"),
        (b"[model]\na = 3\n", '[model."a"] is no table'),
        (b"[model.a]\nfresh = 1\n", "as_of must be the day"),
        (b"[model.a]\nas_of = '2026'\n", "as_of must be the day"),
        (f"[model.a]\n{ROW}outputs = 1\n".encode(), "unknown key outputs (did you mean output?)"),
        (f"[model.a]\nids = []\n{ROW}".encode(), "ids must be a list"),
        (f"[model.a]\nids = ['*']\n{ROW}".encode(), "ids must be a list"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = '1'").encode(), "fresh must be a number"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = true").encode(), "fresh must be a number"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = -1").encode(), "fresh must be between"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = inf").encode(), "fresh must be between"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = nan").encode(), "fresh must be between"),
        (f"[model.a]\n{ROW}".replace("fresh = 1", "fresh = 0.0000001").encode(), "more than six decimals"),
        (f"[model.a]\n{ROW}".replace("output = 2\n", "").encode(), "has no output"),
        (f"[model.a]\n{ROW}above = 3\n".encode(), "above must be a table"),
        (f"[model.a]\n{ROW}above = {{ prompt = 0 }}\n".encode(), "prompt must be a number of tokens"),
        (f"[model.a]\n{ROW}above = {{ prompt = 5, fresh = 1 }}\n".encode(), "above has no cache_read"),
        (f"[model.a]\n{ROW}source = 3\n".encode(), "source must be a string"),
    ],
)
def test_a_slip_is_one_sentence_with_the_next_command(body: bytes, says: str) -> None:
    with pytest.raises(PriceError) as caught:
        read_prices(body, "mine.toml")
    sentence = str(caught.value)
    assert sentence.startswith("mine.toml")
    assert says in sentence
    assert "\n" not in sentence
    assert "python -m harness replay" in sentence


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PriceError, match="cannot be read"):
        user_prices(tmp_path / "none.toml", Path.read_bytes)


def test_an_empty_table_prices_nothing() -> None:
    assert PriceTable(()).find("gpt-5") is None
    assert PriceTable(()).as_of is None


def test_a_star_stands_at_the_end_and_an_id_belongs_to_one_model() -> None:
    with pytest.raises(PriceError, match="the id 'n\\*b' has a \\* before its end"):
        read_prices(f'[model.a]\nids = ["n*b"]\n{ROW}'.encode(), "p.toml")
    twice = f'[model.a]\nids = ["One"]\n{ROW}[model.b]\nids = ["one"]\n{ROW}'
    with pytest.raises(PriceError, match=r"""\[model\."b"\] has the id 'one' of "a" too"""):
        read_prices(twice.encode(), "p.toml")
    assert read_prices(f'[model.a]\nids = ["one", "ONE", "n*"]\n{ROW}'.encode(), "p.toml").find("nb") is not None
