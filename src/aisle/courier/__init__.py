"""Background process of a host that talks to the service: it pulls a store into cache.db and pushes outbox.db.

It imports no job, no scan, no screen and nothing of the service. Sessions never reach the network: they read the two
databases, and the courier notifies them which topics changed. Start reading at `courier.Courier`, which composes the
parts; then `pull` (reading), `push` (writing) and `leader_process` (the process and its lock). What a
service can do is in `service_features_and_lists`.
"""
