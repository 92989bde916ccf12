"""Reports of what the courier did: trouble with the link and its end, a restored service, undos and counts without
effect.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aisle.jobs.find_and_report_refusals import refusal_verdict
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg
from aisle.session.courier_connection import LASTING_STATES
from aisle.session.event_runner import SessionPart

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import UnusedCountsRow


@dataclass(eq=False)
class LinkReports(SessionPart):
    """Reports of the link, a restore and undos, each once the screen is free for it."""

    def __post_init__(self) -> None:
        self._unreported_link = ""
        """Message on the link that waits until the screen is free for it."""
        self._reported_since = ""
        """Time from which undos and counts without effect are reported."""
        self._reported: set[str] = set()
        """Ids of these."""

    def report(self) -> None:
        """Report what is new."""
        self._report_link(self._store.notifications.link_message())
        self._report_restore()
        self._reported_since = self._reported_since or self._context.current().now
        self._report_without_effect(
            "undos_after_counts", "op_id", partial(refusal_verdict, id_="session.undo_after_count")
        )
        self._report_without_effect("unused_counts", "key", _unused_count)

    def _report_link(self, link_message: str) -> None:
        """Report trouble with the link, or its end, once the screen is free for it."""
        is_over = link_message in ("open", "going") and self._unreported_link in LASTING_STATES
        self._unreported_link = "" if is_over else link_message or self._unreported_link
        if self._unreported_link and not self._verdicts.is_busy:
            self._verdicts.notify(self._link_verdict(self._unreported_link))
            self._unreported_link = ""

    def _link_verdict(self, link_message: str) -> Verdict:
        match link_message:
            case "refused":
                return Verdict(WRONG, self._access_refused_message())
            case "open":
                return Verdict(INFO, msg("session.access_restored"))
            case "going":
                return Verdict(INFO, msg("session.courier_works_again"))
            case "stuck":
                return Verdict(WRONG, msg("session.courier_stuck"))
            case _:
                return Verdict(WRONG, msg("session.program_outdated"))

    def _access_refused_message(self) -> Msg:
        """Return why the service refuses this host."""
        notifications, profile = self._store.notifications, self._profile.current
        other_file = notifications.refused_token_file()
        if reason := notifications.token_error():
            path = other_file or notifications.token_file
            short = reason.replace(path, os.path.basename(path)) if path else reason
            return msg("session.no_token", why=reason, short=short)
        if nearest := notifications.suggested_store():
            return msg("session.no_store", store=profile.store, nearest=nearest)
        file = other_file or os.path.basename(profile.token_file) or "token_file"
        return msg("session.access_refused", store=profile.store, file=file)

    def _report_restore(self) -> None:
        """Report that the service was restored from a copy and what it lost is sent again."""
        count = self._store.notifications.resent_after_restore()
        if count is not None and self._verdicts.is_free_for_report:
            text = msg("session.restored", count=count) if count else msg("session.restored_whole")
            self._verdicts.notify(Verdict(INFO, text))
            self._store.notifications.acknowledge_restore()

    def _report_without_effect(self, query: str, key: str, verdict_of: Callable[[Any], Verdict]) -> None:
        """Report the last row of a query that this session did not report yet; `key` is its field with the id.

        It corrects an answer that said what changes, also one that is still shown.
        """
        user = self._context.user.user
        if not user or not self._verdicts.is_free_for_correction:
            return
        rows, _ = self._store.reader.query(query, {"user": user, "since": self._reported_since})
        fresh = [row for row in rows if row[key] not in self._reported]
        if fresh:
            self._reported |= {row[key] for row in fresh}
            self._verdicts.notify(verdict_of(fresh[-1]))


def _unused_count(row: UnusedCountsRow) -> Verdict:
    """Return the report of a count that the service does not use, because it had a later one of the same goods."""
    label, counted, later = row["label"], row["counted_quantity"], row["later_quantity"]
    if later is None:
        return Verdict(WRONG, msg("session.count_not_used", label=label, counted=counted))
    name = row["user_name"]
    return Verdict(WRONG, msg("session.count_not_used_later", label=label, counted=counted, name=name, later=later))
