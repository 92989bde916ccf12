"""The outbox as a session has it open: writes go in, states are read."""

from collections.abc import Callable
from pathlib import Path

import apsw

from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Intent, Operation
from tests.courier.writes import ANNA


class Desk:
    """A session's side of the outbox: writes go in here, in transactions of their own."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self.db: apsw.Connection = open_outbox(folder)
        self.outbox = OperationQueue(self.db, clock=clock)

    def write(self, *writes: Write, occurred: str = "2027-01-15T11:59:00Z") -> tuple[str, ...]:
        """Puts these writes into the outbox in one transaction; their op_ids."""
        with transaction(self.db):
            return self.outbox.enqueue([Intent(write, "JOB", 1, occurred) for write in writes], ANNA)

    def state(self, op_id: str) -> str:
        """The state of an operation."""
        return self.outbox.get(op_id).state

    def states(self) -> list[str]:
        """The states of all operations, oldest first."""
        return [op.state for op in self.all()]

    def all(self) -> list[Operation]:
        """All operations, oldest first."""
        return list(self.outbox.recent())[::-1]

    def is_read_back(self, op_id: str) -> bool:
        """Whether its effect is in the cache."""
        return self.outbox.get(op_id).read_back_at is not None

    def close(self) -> None:
        """Closes the database."""
        self.db.close()
