"""outbox.db: what this host must not lose. Operations and their states, the journal, local notes and requests.

Sessions write it (`commit_journal.Journal.commit`); the courier sends from it (`operation_queue.OperationQueue`).
`operation_queue` changes operations before they are sent; `outcomes_and_reversals` records what becomes of them. One
transaction holds a batch's events and operations, and now and then a job's snapshot. It reads the cache's figures, and
must not know the network or the terminal. Start with `operation_record`, which has all states (stored: `done` is
confirmed, `rejected` is refused), and `operation_table`, which writes them.
"""
