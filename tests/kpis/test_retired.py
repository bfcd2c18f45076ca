"""A KPI that is no more: its table in the catalog and in users' files, and what is refused."""

from datetime import date

import pytest

from kpis.registry import CatalogError, SelectionError, extend, load
from kpis.retired import Retired, revived
from kpis.schema import kpi_schema

STONE = '[retired.mine_ns]\nreason = "It timed the engine."\non = 2026-12-01\nreplacement = "denies"\n'


def extended(text):
    return extend(load(), "bench/mine.toml", text)


def test_the_tombstones_of_the_catalog_are_sound():
    catalog = load()
    assert list(revived(catalog.retired, catalog.names)) == []


def test_a_users_tombstone_is_read_and_the_catalog_is_unchanged():
    catalog = extended(STONE)
    (stone,) = [stone for stone in catalog.retired if stone.origin != "catalog"]
    assert stone == Retired(
        "mine_ns", "It timed the engine.", date(2026, 12, 1), "denies", None, origin="bench/mine.toml"
    )
    assert stone.instead == "read denies"
    assert list(revived(catalog.retired, catalog.names)) == []
    assert not any(stone.id == "mine_ns" for stone in load().retired)


def test_whoever_asks_for_a_retired_kpi_is_told_what_to_read():
    with pytest.raises(SelectionError) as refused:
        extended(STONE).get("mine_ns")
    assert str(refused.value) == (
        "mine_ns was retired on 2026-12-01 (It timed the engine); read denies: try `python -m harness explain denies`."
    )
    nothing = STONE.replace('replacement = "denies"', 'no_replacement = "Nobody asks."')
    with pytest.raises(SelectionError, match=r"nothing: Nobody asks: try `python -m harness list`\.$"):
        extended(nothing).get("mine_ns")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (STONE.replace("replacement", "no_replacement") + 'replacement = "denies"\n', "line 5", "one of the two"),
        (STONE.replace('replacement = "denies"\n', ""), "line 1", "or say in no_replacement why there is none"),
        (STONE.replace("reason", "raison"), "line 2", "the unknown key raison (did you mean reason?)"),
        (
            STONE.replace('reason = "It timed the engine."\n', ""),
            "line 1",
            "has no reason, which every retired KPI needs",
        ),
        (STONE.replace("2026-12-01", '"2026-12-01"'), "line 3", "it is a TOML date without quotes"),
        (STONE.replace("2026-12-01", "5"), "line 3", "it is a TOML date without quotes"),
        (STONE.replace('"denies"', '"De nies"'), "line 4", "it is the id of a KPI"),
        (STONE.replace("[retired.mine_ns]", "[retired.Mine]"), "line 1", "must begin with a small letter"),
        (STONE.replace("[retired.", "[retierd."), "line 1", "there is no table [retierd] (did you mean retired?)"),
    ],
)
def test_a_tombstone_that_cannot_be_read_is_one_sentence(text, where, what):
    with pytest.raises(CatalogError) as refused:
        extended(text)
    (sentence,) = refused.value.sentences
    assert sentence.startswith(f"bench/mine.toml, {where}: ")
    assert what in sentence
    assert sentence.endswith("`python -m harness schema kpi` shows every key.")


@pytest.mark.parametrize(("replacement", "why"), [(None, None), ("denies", "Nobody asks.")])
def test_a_tombstone_needs_one_of_the_two(replacement, why):
    with pytest.raises(ValueError, match="not both"):
        Retired("mine_ns", "It timed the engine.", date(2026, 12, 1), replacement, why)


def test_every_way_of_undoing_a_retirement_is_said():
    day = date(2026, 12, 1)
    stones = [
        Retired("a", "Gone.", day, "live"),
        Retired("a", "Gone.", day, "live", origin="other"),
        Retired("b", "Gone.", day, "a"),
        Retired("c", "Gone.", day, "nowhere"),
        Retired("live", "Gone.", day, None, "Nobody asks."),
    ]
    said = dict.fromkeys("abc", "") | {"live": ""}
    for name, sentence in revived(stones, {"live"}):
        said[name] += sentence
    assert "declared twice" in said["a"]
    assert "which is retired itself" in said["b"]
    assert "which is no KPI of the catalog" in said["c"]
    assert "in the catalog again" in said["live"]


def test_the_published_schema_describes_a_tombstone():
    table = kpi_schema()["$defs"]["RetiredRow"]
    assert set(table["required"]) == {"reason", "on"}
    assert all(described["description"].endswith(".") for described in table["properties"].values())
