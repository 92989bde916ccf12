"""English messages: pages of `aisle web` around the screens."""

from __future__ import annotations

MESSAGES: dict[str, str | tuple[str, ...]] = {
    "web.title": "aisle: the store in the hand",
    "web.who_may": "For supervisors.",
    "web.who": "Badge or user name",
    "web.pin": "PIN",
    "web.sign_in": "Sign in",
    "web.sign_out": "Sign out",
    "web.wrong": "Badge, name or PIN is wrong.",
    "web.later": "Too many wrong tries. Wait a few minutes.",
    "web.wrong_person": "Only supervisors work in a browser.",
    "web.no_people": "This service knows no PINs, so nobody can sign in here.",
    "web.no_answer": "The service does not answer now. Try again.",
    "web.session_ended": "This screen has ended. Nothing is lost: the work goes on at the same step.",
    "web.again": "Go on",
}
