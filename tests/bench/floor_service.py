"""The floor of the service: Starlette that runs the same statements and encodes their rows, and nothing else.

`python floor_service.py DATABASE PORT STATEMENTS`; STATEMENTS is a JSON file of names, each with its statements and
their parameters. No token, no rights, no limits, no validation, no names of the interface.
"""

import json
import sys
from pathlib import Path

import apsw
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def main(database: str, port: str, statements: str) -> None:
    """Serves until it is ended."""
    connection = apsw.Connection(database, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.execute("PRAGMA query_only = ON")
    asked = json.loads(Path(statements).read_text(encoding="utf-8"))

    async def answer(request: Request) -> Response:
        rows: list[dict[str, object]] = []
        for sql, given in asked[request.path_params["name"]]:
            cursor = connection.execute(sql, given)
            names = None
            for row in cursor:
                names = names or [column[0] for column in cursor.description]
                rows.append(dict(zip(names, row, strict=True)))
        body = json.dumps({"list": rows}, ensure_ascii=False, separators=(",", ":"), default=str)
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/{name}", answer)])
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error", access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
