"""English messages: stored reasons for refused and unconfirmed operations."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "told.order_rejected": ("{order:~} was rejected", "Somebody else has rejected order {order:~}"),
    "told.order_finished": ("{order:~} was finished", "Somebody else has finished order {order:~}"),
    "told.line_changed": ("Line {line} is {now:~} now", "Line {line} of order {order:~} is {now:~} now, not {ours:~}"),
    "told.setting_changed": (
        "{field:~} is {now:~} now",
        "{field:~} of {product:~} is {now:~} now, not {seen:~}: somebody else has changed it",
    ),
    "told.too_many": ("Put back {left}", "Line {line} is at {picked} of {of}; {left} too many in your hand: put back"),
    "told.too_many_by": (
        "Put back {left}",
        "Line {line} is at {picked} of {of} ({who:~}); {left} too many in your hand: put back",
    ),
    "told.not_back": (
        "{left} not put back",
        "Line {line} is at {picked} of {of}, {moved} at a place; {left} of it were not put back",
    ),
    "told.not_back_by": (
        "{left} not put back",
        "Line {line} is at {picked} of {of} ({who:~}), {moved} at a place; {left} of it were not put back",
    ),
    "told.courier_ended": ("Ended too early", "The program that sends ended before the answer came"),
    "told.tried": ("Tried {count} times", "Tried {count} times and never settled: {why:~}"),
    "told.refused_often": ("Refused {count} times", "Refused {count} times: {why:~}"),
    "told.unread_before": ("Not readable", "What it would change could not be read {count} times: {why:~}"),
    "told.key_gone": ("It may be there twice", "It may have arrived, and the service would not know it again any more"),
    "told.key_old": ("Sent too long ago", "It was first sent so long ago that the service may not know it again"),
    "told.restored": ("Service restored", "The service was put back from an earlier copy; it may have lost this"),
    "told.changed_later": (
        "Changed later",
        "The service was put back from an earlier copy. "
        "Line {line} was changed since: that stands, and it is not closed again",
    ),
    "told.unsaid": ("Not said to be done", "The service answered, and did not say that it was done"),
    "told.plain": ("No ({status})", "Somebody on the way said no ({status}): {why:~}"),
    "told.status_no": ("No ({status})", "The service says no, and not why ({status})"),
    "told.status_said": ("No ({status})", "{why:~} ({status})"),
    "told.silent": ("No answer", "The service does not answer when it is asked for this"),
    "told.status_strange": ("No service ({status})", "Something else than the service answered ({status})"),
    "told.no_words": ("It says no", "The service says no, and not why"),
    "told.not_reached": ("Not reached", "The service could not be reached"),
    "told.no_answer": ("No answer", "The service gave no answer that settles it"),
    "told.unreadable": ("Answer unreadable", "The answer of the service cannot be read"),
    "told.no_store": ("Wrong store", "There is no such store"),
    "told.no_token": ("Token missing", "The token for the service cannot be used: run aisle doctor"),
    "told.unfit": ("Cannot be sent", "It cannot be said to the service as it is: run aisle doctor"),
    "told.denied": ("Not there", "The service confirmed it, and does not show it"),
    "told.denied_often": ("Not there", "The service confirmed it {count} times, and does not show it"),
    "told.absent": ("Goes again", "Looked for and not there: it is sent again"),
    "told.partly": ("Rest goes again", "Looked for and partly there: the rest is sent again"),
    "told.wordless": ("Did it arrive?", "The service answered without a word, and does not show it"),
    "told.changed_product": ("Changed by others", "Somebody else has changed the product meanwhile"),
    "told.changed_order": ("Changed by others", "Somebody else has changed the order meanwhile"),
    "told.not_in_log": (
        "Did it arrive?",
        "Nobody knows whether it arrived: the service's log does not show it, and may never do",
    ),
    "told.unaskable": ("Did it arrive?", "Nobody knows whether it arrived, and the service cannot be asked"),
    "told.put_back": (
        "Files put back",
        "outbox.db was deleted; it is back",
        "outbox.db was deleted while aisle ran. It is back, with all that was noted.",
    ),
    "told.kept_beside": (
        "Kept: {file:~}",
        "Another outbox.db is there. Yours is kept: {file:~}",
        "Another outbox.db was put in place while aisle ran. What was noted until then is kept in {file:~}.",
    ),
}
