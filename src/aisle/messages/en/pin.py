"""English messages: PIN of a supervisor."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "home.pin": ("PIN", "Give your PIN"),
    "pin.title": ("PIN", "Your PIN"),
    "pin.prompt": ("Your PIN", "Type your PIN"),
    "pin.prompt_wait": ("Wait", "Wait for the answer"),
    "pin.prompt_late": ("Number or b", "Choose a number, or b for back"),
    "pin.note": (
        "Asked once for all.",
        "Only a supervisor does this. The PIN is asked once for all you do now, and kept nowhere.",
    ),
    "pin.note_waiting": ("{count} wait for it", "{count:action waits|actions wait} for it"),
    "pin.note_asked": ("Asking", "Asking the service"),
    "pin.enter_pin": ("Your PIN, please", "Your PIN, please: then it is done"),
    "pin.asked": ("Asked", "The service is asked"),
    "pin.no_pin": ("4 to 12 digits", "A PIN has 4 to 12 digits"),
    "pin.wrong": ("Wrong PIN", "Wrong PIN: nothing was done"),
    "pin.locked": ("Not now", "Not done, try later: {why:~}"),
    "pin.scanned": ("Type it, no scan", "A scan is no PIN: type it key by key"),
    "pin.wait_for_it": ("Wait, please", "The service is asked: wait for the answer"),
    "pin.role": ("Supervisors only", "Not done: the service says you are no supervisor"),
    "pin.not_sent": ("No answer", "The service was not reached: {why:~}"),
    "pin.no_answer": ("No answer", "The service has not answered in time"),
    "pin.again": ("Once more", "Type the PIN once more"),
    "pin.save_without_pin": ("Note it", "Note it now; it is sent once your PIN is given"),
    "pin.done": ("PIN is right", "The PIN is right, {name:~}"),
    "pin.twice": ("The PIN was right", "The PIN was right before: nothing was made of this"),
    "pin.early": ("First your name", "Nobody is called that. First your badge or name, then the PIN"),
    "pin.elsewhere": ("Your PIN? . PIN", "Nothing here is called that. Your PIN? Type . and choose PIN"),
    "pin.left": ("No PIN given", "No PIN given; what waits for it goes on waiting"),
    "pin.not_needed": ("No PIN needed", "Nothing here needs your PIN"),
    "pin.saved": (
        "Waits: . PIN",
        "Waits for your PIN: . then PIN",
        "{said}: waits for your PIN (. then PIN)",
        "{said}: waits for your PIN (. then PIN, once the service is back)",
    ),
    "pin.waits": ("{count} wait: . PIN", "{count:action waits|actions wait} for your PIN: type . and choose PIN"),
}
