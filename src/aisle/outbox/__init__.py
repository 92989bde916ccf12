"""outbox.db: operations and what becomes of them, the journal, remarks, wishes and questions."""
