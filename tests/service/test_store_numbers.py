"""A store number that is nearly one of the token's: who may know it hears which one may have been meant."""

from typing import Any

import pytest

from aisle.contract.operations import OPERATIONS
from aisle.errors import UsageError
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.test_authorization import OF_CHAIN, OF_TOKEN, ask
from tests.service.world import World, store_body


async def make(world: World, *numbers: str) -> None:
    stores = [store_body(number, f"Store {number}") for number in numbers]
    await world.post("/stores", {"stores": stores})


async def said(world: World, store: str, client: Any = None) -> str:
    """What a list of the orders of a store answers."""
    options = {} if client is None else {"client": client}
    answer = await world.send("GET", f"/stores/{store}/orders/customerorders", **options)
    assert answer.status_code == 403
    return str(answer.json()["message"])


@pytest.mark.parametrize(
    ("known", "given", "meant"),
    [
        *(("0042", "42", "0042"), ("42", "0042", "42"), ("0042", "042", "0042"), ("0042", "00042", "0042")),
        *(("S7", "s7", "S7"), ("0S7", "s7", "0S7"), ("0", "000", "0"), ("0042", "42%20", "0042"), ("a1", "A1", "a1")),
        ("0100", "100", "0100"),
    ],
)
async def test_caller_with_all_stores_gets_nearest_store_number(
    known: str, given: str, meant: str, world: World
) -> None:
    await make(world, known)
    assert await said(world, given) == f"There is no store {given.replace('%20', ' ')}; {meant}?"


async def test_several_stores_may_be_meant(world: World) -> None:
    await make(world, "0042", "042", "00042")
    assert await said(world, "42") == "There is no store 42; 00042 or 0042 or 042?"


async def test_a_store_that_is_like_no_other_is_only_denied(world: World) -> None:
    await make(world, "0042")
    assert await said(world, "420") == "There is no store 420."


async def test_a_token_of_some_stores_hears_of_its_own_alone(world: World) -> None:
    await make(world, "0042", "0043", "43")
    async with world.client_for("staff", ["0042"]) as client:
        assert await said(world, "42", client) == "This token has no store 42; 0042?"
        others = {await said(world, number, client) for number in ("0043", "43", "043", "NONE")}
    assert others == {"This token may not do this in this store."}


async def test_a_number_of_others_and_one_of_nobody_sound_the_same(world: World) -> None:
    await make(world, "0042", "42")
    async with world.client_for("staff", ["0042"]) as client:
        assert await said(world, "42", client) == "This token has no store 42; 0042?"
        assert await said(world, "042", client) == "This token has no store 042; 0042?"


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - OF_TOKEN - OF_CHAIN))
async def test_every_operation_that_takes_a_store_says_it(name: str, world: World) -> None:
    await make(world, "0042")
    answer = await ask(world, name, "42", world.client)
    assert answer.status_code == 403
    assert answer.json()["message"] == "There is no store 42; 0042?"


async def test_a_token_is_not_made_for_a_store_that_is_none(world: World) -> None:
    await make(world, "0042")
    with pytest.raises(UsageError, match=r"No such store: 42\. 0042\?"):
        create_token(
            world.service.database, name="x", role="staff", store_numbers=["42"], now=format_timestamp(world.now)
        )
