"""English messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "stored_reason.order_rejected": ("{order:~} was rejected", "Somebody else has rejected order {order:~}"),
    "stored_reason.order_finished": ("{order:~} was finished", "Somebody else has finished order {order:~}"),
    "stored_reason.line_changed": (
        "Line {line} is {now:~} now",
        "Line {line} of order {order:~} is {now:~} now, not {ours:~}",
    ),
    "stored_reason.setting_changed": (
        "{field:~} is {now:~} now",
        "{field:~} of {product:~} is {now:~} now, not {seen:~}: somebody else has changed it",
    ),
    "stored_reason.surplus": (
        "Put back {left}",
        "Line {line} is at {picked} of {of}; {left} too many in your hand: put back",
    ),
    "stored_reason.surplus_by": (
        "Put back {left}",
        "Line {line} is at {picked} of {of} ({who:~}); {left} too many in your hand: put back",
    ),
    "stored_reason.not_put_back": (
        "{left} not put back",
        "Line {line} is at {picked} of {of}, {moved} at a place; {left} of it were not put back",
    ),
    "stored_reason.not_put_back_by": (
        "{left} not put back",
        "Line {line} is at {picked} of {of} ({who:~}), {moved} at a place; {left} of it were not put back",
    ),
    "stored_reason.courier_ended": ("Ended too early", "The program that sends ended before the answer came"),
    "stored_reason.attempts": ("Tried {count} times", "Tried {count} times and never settled: {why:~}"),
    "stored_reason.refused_repeatedly": ("Refused {count} times", "Refused {count} times: {why:~}"),
    "stored_reason.earlier_value_unknown": (
        "Not readable",
        "What it would change could not be read {count} times: {why:~}",
    ),
    "stored_reason.key_gone": (
        "It may be there twice",
        "It may have arrived, and the service would not know it again any more",
    ),
    "stored_reason.key_old": (
        "Sent too long ago",
        "It was first sent so long ago that the service may not know it again",
    ),
    "stored_reason.restored": (
        "Service restored",
        "The service was put back from an earlier copy; it may have lost this",
    ),
    "stored_reason.changed_later": (
        "Changed later",
        "The service was put back from an earlier copy. "
        "Line {line} was changed since: that stands, and it is not closed again",
    ),
    "stored_reason.not_stated": ("Not said to be done", "The service answered, and did not say that it was done"),
    "stored_reason.text": ("No ({status})", "Somebody on the way said no ({status}): {why:~}"),
    "stored_reason.status_rejected": ("No ({status})", "The service says no, and not why ({status})"),
    "stored_reason.status_with_text": ("No ({status})", "{why:~} ({status})"),
    "stored_reason.no_answer_in_time": ("No answer", "The service does not answer when it is asked for this"),
    "stored_reason.status_unexpected": ("No service ({status})", "Something else than the service answered ({status})"),
    "stored_reason.no_text": ("It says no", "The service says no, and not why"),
    "stored_reason.not_reached": ("Not reached", "The service could not be reached"),
    "stored_reason.no_answer": ("No answer", "The service gave no answer that settles it"),
    "stored_reason.unreadable": ("Answer unreadable", "The answer of the service cannot be read"),
    "stored_reason.no_store": ("Wrong store", "There is no such store"),
    "stored_reason.no_token": ("Token missing", "The token for the service cannot be used: run aisle doctor"),
    "stored_reason.not_valid": ("Cannot be sent", "It cannot be said to the service as it is: run aisle doctor"),
    "stored_reason.denied": ("Not there", "The service confirmed it, and does not show it"),
    "stored_reason.denied_repeatedly": ("Not there", "The service confirmed it {count} times, and does not show it"),
    "stored_reason.absent": ("Goes again", "Looked for and not there: it is sent again"),
    "stored_reason.partly": ("Rest goes again", "Looked for and partly there: the rest is sent again"),
    "stored_reason.empty_answer": ("Did it arrive?", "The service answered without a word, and does not show it"),
    "stored_reason.product_changed": ("Changed by others", "Somebody else has changed the product meanwhile"),
    "stored_reason.order_changed": ("Changed by others", "Somebody else has changed the order meanwhile"),
    "stored_reason.not_in_log": (
        "Did it arrive?",
        "Nobody knows whether it arrived: the service's log does not show it, and may never do",
    ),
    "stored_reason.cannot_be_looked_up": (
        "Did it arrive?",
        "Nobody knows whether it arrived, and the service cannot be asked",
    ),
    "stored_reason.put_back": (
        "Files put back",
        "outbox.db was deleted; it is back",
        "outbox.db was deleted while aisle ran. It is back, with all that was noted.",
    ),
    "stored_reason.file_kept": (
        "Kept: {file:~}",
        "Another outbox.db is there. Yours is kept: {file:~}",
        "Another outbox.db was put in place while aisle ran. What was noted until then is kept in {file:~}.",
    ),
}
