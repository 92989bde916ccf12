"""Numbers of orders and deliveries that are open in another store are warned of."""

import pytest

from tests.load.test_load_report import load, loaded
from tests.load.test_repeated_loads import World, stocked

FILES = {
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,P,2"),
    "deliveries.csv": ("store_number,order_number,line_number,product_number,quantity,no_of_containers", "1,P,2,1"),
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("others", [0, 150], ids=["few", "many"])
async def test_number_that_is_open_in_another_store_is_warned_of(file: str, others: int, world: World) -> None:
    header, line = FILES[file]
    more = [f"2,X{at},{line}" for at in range(others)]
    stocked(world)
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false", "3,Three,false")
    await loaded(world)

    async def warned(*rows: str) -> list[str]:
        lines = (await load(world, file, header, *rows)).lines()
        return [one.rpartition(": ")[2] for one in lines if "of another store has this number" in one]

    assert await warned(f"1,N,{line}") == []
    assert await warned(f"1,N,{line}") == []
    assert await warned(f"1,N,{line}", f"2,N,{line}", *more) == []  # the file names both
    assert await warned(f"3,N,{line}", *(row.replace("X", "Y") for row in more)) == [
        "N is in store 1 too.",
        "N is in store 2 too.",
    ]


async def test_finished_order_of_another_store_is_not_warned_of(world: World) -> None:
    header, line = FILES["orders.csv"]
    stocked(world)
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false")
    world.write("orders.csv", f"{header},is_active", f"1,N,{line},false")
    await loaded(world)
    assert len((await load(world, "orders.csv", header, f"2,N,{line}")).lines()) == 1
