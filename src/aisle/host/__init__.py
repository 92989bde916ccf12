"""Shared resources of one host: store folders, databases, locks, notification sockets, the courier's heartbeat.

This package must not know rows, operations, jobs or the network. Start with `store_and_database_folders` (the files of
a store), then `database` (how they are opened).
"""
