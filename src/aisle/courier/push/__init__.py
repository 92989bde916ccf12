"""Writing from the outbox to the service: sending, looking up operations in doubt, deciding whether they arrived.

It does not import `aisle.courier.pull`. Start reading at `push_loop` (sending), then `decide_after_send` (what
an answer means) and `reconciler` (operations in doubt), which uses `read_arrival_evidence` and
`decide_arrival_from_lookup`. `PushCallbacks` says what the courier gives them; `outgoing_request` builds requests.
"""
