"""outbox.db: what this host must not lose. Operations and their states, the journal, local notes and requests.

Sessions write it (`journal.Journal.commit`); the courier sends and reconciles (`operation_queue.OperationQueue`). One
transaction holds an input's event, snapshot and operations. This package must not know the network, the terminal, or
the rows of the cache beyond a product's or an order's figures. Start with `operation_record`, then `operation_state`,
the table of all states.
"""
