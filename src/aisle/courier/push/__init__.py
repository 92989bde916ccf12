"""From the outbox to the service: sending, looking for what may have arrived, judging it."""
