"""Browser access: the same screens in a browser, in a terminal of xterm.js.

It must not know the service, sessions or screens; it starts the app as a process and passes packets on. Start reading
at `app` (requests), then `windows` (one app process a window, found again after a cut, and its websockets) and
`app_process` (the process and its packets). `sign_ins` knows who is signed in, `pages` has the pages around the screen,
and `static` their scripts: `screen.js` (terminal), `socket.js` (websocket), `history.js` (address), `find.js` (Ctrl+F).
"""
