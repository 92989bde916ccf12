"""Browser access: the same screens in a browser, with the page of textual-serve.

It must not know the service, sessions or screens; it starts the app as a process and passes packets on. Start reading
at `app` (requests and websockets), then `app_process` (one process per session). `sign_ins` knows who is signed in,
and `pages` has the pages around the screen.
"""
