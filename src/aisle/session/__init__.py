"""A session: inputs to jobs, durable before the screen says so."""
