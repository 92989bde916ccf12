"""Session: one running app, from an input to a frame.

Start with `session.Session`, which wires the parts together: an input is resolved to a meaning, the job on the screen
handles it, and its effects are committed in one transaction before the frame says so. Parts own their state and know
no `Session`. They read SQLite files and a socket, never the network, and know no Textual. A PIN goes to
the courier by the socket and is stored nowhere.
"""
