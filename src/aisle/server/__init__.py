"""HTTP server that every server of this project uses: limits of connections, TLS, certificate renewal, websockets.

It must not know what it serves, neither the service nor the web pages. Start reading at `http_server`.
"""
