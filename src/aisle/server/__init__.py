"""HTTP server that every server of this project uses: limits of connections, TLS, certificate renewal, websockets.

It must not know what it serves, neither the service nor the web pages. Start reading at `http_server`.

uvicorn parses HTTP and websockets. No option of uvicorn 0.54 or Granian 2.8, tried beside it, keeps these promises:

* A head ends in time, also one that was never begun (uvicorn waits for ever; Granian does so unless told HTTP/1 only).
* A body ends in time, by its size (both wait for ever for one that drips), and so does an answer that nobody reads.
* Connections and handshakes stay below the descriptor limit, and an address has a share of them (`connections`; at the
  limit both leave every visitor without an answer).
* One client with many requests or frames at once delays only itself (`caller_turns`, `limited_websocket`).
* SIGTERM is announced by `/ready` while new requests are answered (both refuse new connections at once).
* A worker that fails at its start is tried again for ever, and ends with its parent (Granian gives up after the second
  time, and its workers outlive a killed parent).

Granian keeps these, too: a renewed certificate on SIGHUP, replaced workers, Unix sockets, running requests at the end.
"""
