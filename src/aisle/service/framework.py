"""FastAPI behind the door: routes made from the same table as the operations, the OpenAPI page, and what operators ask.

FastAPI is imported here alone, with what is a page of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from aisle.errors import StorageError
from aisle.service.answers import Refusal
from aisle.service.asked import Answer, Operation
from aisle.service.dispatch import Way
from aisle.service.docs import add_docs
from aisle.service.gate import Gate, refused, response
from aisle.service.request import query_values
from aisle.service.watching import add_watching

if TYPE_CHECKING:
    from aisle.service.metrics import Metrics


def framework(gate: Gate, ways: Iterable[Way], metrics: Metrics | None, leaving: Callable[[], bool]) -> FastAPI:
    """What answers all that is no operation. It knows the operations, too, to say which method a path is used with.

    `leaving` tells whether this process is about to end.
    """
    made = FastAPI(
        title="Store Operations Service",
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[] if gate.lenient else [Depends(_no_parameters)],
    )
    for way in ways:
        _add(made, gate, way)
    add_docs(made)
    add_watching(made, gate, metrics, leaving)
    made.add_exception_handler(HTTPException, _no_route)
    made.add_exception_handler(Refusal, _refused)
    made.add_exception_handler(StorageError, _no_storage)
    return made


def _add(made: FastAPI, gate: Gate, way: Way) -> None:
    made.add_api_route(
        way.path,
        _endpoint(gate, way.operation),
        methods=[way.method],
        name=way.operation.name,
        response_model=None,
        response_class=Response,
    )


def _endpoint(gate: Gate, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await gate.answer(operation, request)

    return endpoint


def _no_parameters(request: Request) -> None:
    """Pages about the service take no parameters; operations, which do, never come here. Raises Refusal (400)."""
    if request.scope["query_string"]:
        query_values(request.scope["query_string"], ())


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Refusal)
    return refused(problem)


async def _no_route(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    message = {404: "There is no such operation here.", 405: "This path is used with another method."}
    status = problem.status_code
    answer = response(Answer(status, Refusal(status, message.get(status, str(problem.detail))).body()))
    answer.headers.update(problem.headers or {})
    if status == 405:
        answer.headers["Allow"] = ", ".join(_methods(request))
    return answer


def _methods(request: Request) -> list[str]:
    """The methods with which this path is used: each has a route of its own."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    here = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return sorted({method for route in here for method in route.methods or ()})


async def _no_storage(request: Request, problem: Exception) -> Response:
    return response(Answer(503, Refusal(503, str(problem)).body()))
