"""The cache of recently read values is bounded."""

from hypothesis import given
from hypothesis import strategies as st

from aisle.cache.overlay_index import RecentCache

MOST = 10


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 14), st.booleans())))
def test_what_was_put_in_last_is_kept_as_far_as_there_is_room(steps: list[tuple[int, int, bool]]) -> None:
    recent: RecentCache[int, object] = RecentCache(MOST)
    kept: dict[int, tuple[object, int]] = {}
    for key, weight, stays in steps:
        kept.pop(key, None)
        if stays:
            value = object()
            recent.put(key, value, weight)
            kept[key] = value, weight
        else:
            recent.remove(key)
        while sum(each for _, each in kept.values()) > MOST and len(kept) > 1:
            del kept[next(iter(kept))]
        assert [recent.get(each) for each in range(7)] == [kept.get(each, (None,))[0] for each in range(7)]
        assert len(recent) == len(kept)
