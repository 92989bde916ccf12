"""The interface, copied out by hand and independently of the code, for `test_document` to compare with it.

`document_answers.txt` and `document_bodies.txt`: a resource has its name in the first column, then lines of
`! fields: type` (required) and `? fields: type` (optional). `{name}_1..10` stands for the ten stock pools. A format is
given where the document states one. `document_pages.txt`: the envelope of each page and, in `list`, its rows.
`document_operations.txt`: `name | area | METHOD path`, then `query`, `header` (`!` required, `<=n` longest), `body` and
`answer` lines.
"""

from pathlib import Path


def _text(name: str) -> str:
    return Path(__file__).with_name(f"document_{name}.txt").read_text(encoding="utf-8")


ANSWERS, PAGES, BODIES, OPERATIONS = map(_text, ("answers", "pages", "bodies", "operations"))

ASSUMED_MODELS = (
    "StoreProductCreate StoreProductsRequest ProductFreeFieldCreate SetProductCreate ProductUnitCreate ProductWrite"
    " ProductsRequest DeleteProductsRequest ProductAttributes ProductAttributesRequest ProductPrice PricesRequest"
    " ProductDiscountPrice DiscountPricesRequest ProductFreeFields ProductFreeFieldsRequest"
)
"""What the document does not show, and the contract fills in on its own account."""
