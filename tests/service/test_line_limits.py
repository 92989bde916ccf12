"""Heads and trailers of many lines: refused before they are parsed, wherever reads cut them, and bodies are not."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.server.connections import _MAX_LINES, _Events

POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
SHORT = b"a: b\r\n"
LINES = b"0\r\n" + b"x\r\n" * 2 * _MAX_LINES
"""What a body may look like."""
CHUNK = b"%x; of=lines\r\n%s\r\n" % (len(LINES), LINES)

ACCEPTED = [
    POST + SHORT * (_MAX_LINES - 2) + b"\r\n",
    POST + b"Content-Length: %d\r\n\r\n%s" % (len(LINES), LINES),
    CHUNKED + CHUNK + CHUNK + b"0\r\n\r\n",
    CHUNKED + CHUNK + b"00; a=b \r\n" + SHORT * _MAX_LINES + b"\r\n",
    CHUNKED + b"5\r\n0\r\n00\r\n" + CHUNK + b"0\r\n\r\n",
]
REFUSED = [
    POST + SHORT * (_MAX_LINES - 1) + b"\r\n",
    POST + SHORT * (_MAX_LINES - 1),
    POST.replace(b"\r", b"") + b"a:\n" * _MAX_LINES + b"\n",
    CHUNKED + b"0\r\n" + SHORT * (_MAX_LINES + 1) + b"\r\n",
    CHUNKED + CHUNK + b"00; a=b \r\n" + SHORT * (_MAX_LINES + 1),
    CHUNKED + CHUNK + b"0\r\n" + b"a:\n" * (_MAX_LINES + 1) + b"\n",
]


def is_refused(data: bytes, cuts: list[int]) -> bool:
    """Whether this is refused, read in these parts. What is accepted ends its request."""
    events = _Events(16 << 10)
    for first, last in zip([0, *cuts], [*cuts, len(data)], strict=True):
        events.left = 1_000
        if first < last:
            events.receive_data(data[first:last])
        try:
            while events.next_event() not in (h11.NEED_DATA, h11.PAUSED):
                pass
        except h11.RemoteProtocolError as error:
            if str(error) == "Too many lines":
                return True
            raise
    assert events.their_state is h11.DONE
    return False


def parts(data: st.DataObject, whole: bytes) -> list[int]:
    return sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))


@pytest.mark.parametrize("request_", ACCEPTED)
@given(data=st.data())
def test_a_request_of_few_lines_is_read(request_: bytes, data: st.DataObject) -> None:
    assert not is_refused(request_, parts(data, request_))


@pytest.mark.parametrize("request_", REFUSED)
@given(data=st.data())
def test_a_head_or_trailer_of_many_lines_is_refused(request_: bytes, data: st.DataObject) -> None:
    assert is_refused(request_, parts(data, request_))


def test_a_head_behind_a_running_request_waits_for_its_answer() -> None:
    events = _Events(16 << 10)
    events.receive_data(POST + b"\r\n" + REFUSED[0])
    assert isinstance(events.next_event(), h11.Request)
    assert isinstance(events.next_event(), h11.EndOfMessage)
    assert events.next_event() is h11.PAUSED
    events.send(h11.Response(status_code=204, headers=[]))
    events.send(h11.EndOfMessage())
    events.start_next_cycle()
    with pytest.raises(h11.RemoteProtocolError):
        events.next_event()
