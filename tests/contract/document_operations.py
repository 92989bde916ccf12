"""The interface's operations, copied out by hand and independently of the code, for `test_document` to compare with it.

`name | area | METHOD path`, then `query`, `header` (`!` required, `<=n` longest), `body` and `answer` lines.
"""

OPERATIONS = """
list-customer-orders | Customer orders | GET /api/v2/public/stores/{store_number}/orders/customerorders
query string: fulfillment_status order_number reference search_text
query boolean: include_locations is_active is_picked show_lines
query number: page_size page_start pickup_offset
answer envelope CustomerOrderList

create-customer-orders-one-store | Customer orders | POST /api/v2/public/stores/{store_number}/orders/customerorders
query boolean: flush
body CustomerOrdersRequest
answer result ConfirmedResult

create-customer-orders-several-stores | Customer orders | POST /api/v2/public/orders/customerorders
query boolean: flush
body MultiStoreCustomerOrdersRequest
answer result ConfirmedResult

update-customer-order | Customer orders | PUT /api/v2/public/stores/{store_number}/orders/customerorder
body CustomerOrderUpdateRequest
answer result ConfirmedResult

create-customer-order-clearance | Customer orders | POST /api/v2/public/customerorders/clearance
query string: location_code_tag!
body ClearanceRequest
answer result ConfirmedResult

list-store-products-stock | Store products | GET /api/v2/public/storeproducts/stock
query string: article_no barcode category_code parent_category_code product_number store_number search_text
query boolean: exclude_customer_order_stock include_locations
query number: from_id to_id page_size page_start
query string: last_modified_date last_stock_modified_datetime
answer envelope StoreProductStockList

retrieve-store-product-stock | Store products | GET /api/v2/public/stores/{store_number}/products/{product_number}/stock
query boolean: exclude_customer_order_stock include_locations include_zero_lines
answer result ProductStockResult

retrieve-store-product-surrounding | Store products | GET \
/api/v2/public/stores/{store_number}/storeproducts/{product_number}/surrounding
answer result array of SurroundingStock

update-store-products | Store products | PUT /api/v2/public/stores/{store_number}/storeproducts
body array of StoreProductUpdate
answer result StandardResult

create-store-products | Store products | POST /api/v2/public/stores/{store_number}/storeproducts
body not shown
answer result StandardResult

list-deliveries | Deliveries | GET /api/v2/public/orders/deliveries
query string: delivery_date group_code last_modified_date order_number status store_number supplier_code supplier_name
query boolean: is_submitted
query number: page_size page_start
answer envelope DeliveryList

create-store-deliveries | Deliveries | POST /api/v2/public/stores/{store_number}/orders/deliveries
header boolean: container_override
body StoreDeliveriesRequest
answer result StandardResult

create-multi-store-deliveries | Deliveries | POST /api/v2/public/orders/deliveries
header boolean: container_override
body MultiStoreDeliveriesRequest
answer result StandardResult

list-receipts | Receipts | GET /api/v2/public/orders/receipts
query number: receipt_type! from_id to_id page_size page_start
query boolean: is_submitted
query string: last_modified_date order_number store_number
answer reduced ReceiptList

list-store-receipts | Receipts | GET /api/v2/public/stores/{store_number}/orders/receipts
query number: receipt_type! from_id to_id page_size page_start
query boolean: is_submitted
query string: last_modified_date order_number
answer reduced ReceiptList

list-locations | Locations | GET /api/v2/public/stores/{store_number}/locations
query string: accept_language app_username search_text
query boolean: ignore_customerorder_stock
query number: page_size page_start
answer envelope LocationList

list-location-products | Locations | GET /api/v2/public/stores/{store_number}/locations/{location_code}/products
query boolean: advance_search
query string: customer_order_number customer_order_shipment_number search_text
query number: page_size page_start
header string: Accept-Language
answer envelope LocationProductList

list-store-product-logs | Store product logs | GET /api/v2/public/products/stock/storeproductlogs
query string: article_number last_modified_date to_modified_date reference store_number
query number: from_id to_id page_size page_start reason_code review_status
query boolean: is_historic is_reviewed
answer envelope StoreProductLogList

create-store-product-logs | Store product logs | POST \
/api/v2/public/stores/{store_number}/products/stock/storeproductlogs
query string: appUserName
query boolean: is_counted_quantity is_from_receipt
body StoreProductLogsRequest
answer result LogResult

list-stores | Stores | GET /api/v2/public/stores
query boolean: is_warehouse
query string: page_size page_start search_text secondary_key<=500
answer envelope StoreList

create-stores | Stores | POST /api/v2/public/stores
query boolean: flush
body StoresRequest
answer result StandardResult

create-or-update-products | Products | POST /api/v2/public/products
body not shown
answer result ConfirmedResult

list-products | Products | GET /api/v2/public/products
params not shown
answer products ProductList

delete-products | Products | DELETE /api/v2/public/products
params not shown
body not shown
answer result ConfirmedResult

update-product-attributes | Products | PUT /api/v2/public/products/attributes
body not shown
answer result AttributeResult

create-prices | Products | POST /api/v2/public/products/prices
body not shown
answer result ConfirmedResult

create-discount-prices | Products | POST /api/v2/public/products/discountprices
body not shown
answer result ConfirmedResult

create-product-free-fields | Products | POST /api/v2/public/products/freefields
body not shown
answer result ConfirmedResult

create-movement | Movement | POST /api/v2/public/stores/{store_number}/storeproductlocation/movement
query string: AppUserName
body array of MovementItem
answer result StandardResult
"""
