"""What a session reads: the cache with the outbox laid over it."""
