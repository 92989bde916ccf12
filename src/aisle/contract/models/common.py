"""Results and page envelopes that several areas share (interface: Resources)."""

from __future__ import annotations

from aisle.contract.models._base import AnswerModel, Number


class StandardResult(AnswerModel):
    """The answer of most writes (interface: Standard result). A missing `success` is not a refusal."""

    success: bool | None = None
    data: str | None = None
    message: str | None = None


class ConfirmedResult(StandardResult):
    """The standard result where the document requires `success`."""

    success: bool  # required here


class PageCounts(AnswerModel):
    """The reduced envelope of the receipt lists (interface: Paged list envelope), without its rows."""

    next_page: Number | None = None
    previous_page: Number | None = None
    page_size: Number | None = None
    page_start: Number | None = None
    total_count: Number | None = None


class PageEnvelope(PageCounts):
    """The common envelope of paged lists (interface: Paged list envelope), without its rows."""

    list_body: dict[str, object] | None = None
    list_filters: dict[str, list[str]] | None = None
    project_last_modified_date: str | None = None
    task_last_modified_date: str | None = None
    scroll_id: str | None = None
    server_time: str | None = None
    sort_column: str | None = None
    sort_order: str | None = None
