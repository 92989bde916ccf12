"""The interface's answers, copied out by hand and independently of the code, for `test_document` to compare with it.

A resource has its name in the first column, then lines of `! fields: type` (required) and `? fields: type` (optional).
`{name}_1..10` stands for the ten stock pools. A format is given where the document states one.
"""

ANSWERS = """
StandardResult
? success: boolean
? data message: string

ConfirmedResult
! success: boolean
? data message: string

PageEnvelope
? list_body: map of unknown
? list_filters: map of array of string
? next_page previous_page page_size page_start total_count: number
? project_last_modified_date task_last_modified_date scroll_id server_time sort_column sort_order: string

PageCounts
? next_page page_size page_start previous_page total_count: number

CustomerOrder
! is_active is_claimed is_picked is_rejected: boolean
! status_id total_lines total_quantity: number
? comment customer_name description: string
? lines: array of CustomerOrderLine
? order_number order_type_code order_type_description pickup_date reference rejection_reason_code: string
? rejection_reason_code_description sales_order_id store_number stores_allowed: string
? total_delivery_quantity: number

CustomerOrderLine
! id: number
! explicit_order is_picked is_template: boolean
! line_number picked_quantity price quantity stock_pool store_walking_order: number
? barcode delivery_date: string
? delivery_qty: number
? description: string
? moved_quantity: number
? next_ordering_datetime picked_username: string
? picking_stock_pool_array: array of string
? pickup_date preferred_location_code product_number reference stock_location: string
? store_locations: array of CustomerOrderLineLocation

CustomerOrderLineLocation
! location_order quantity: number
? customer_order_line_number: number
? customer_order_number: string
? customer_order_shipment_line_number: number
? customer_order_shipment_number default_stock_pool location_code: string
? most_likely_pool_1..10: number
? tags: array of string

StoreProductStock
! id: number int64
! is_replenishment is_stock: boolean
! most_likely_quantity: number double
? adjusted_order_level: number double
? attention_codes average_array barcode category_code category_name: string
? category_order: number int32
? delivery_datetimes: array of string
? demand_until_delivery forecast: number double
? forecast_array group_code history_array: string
? last_counted_datetime last_expiry_datetime: string date-time
? last_expiry_updatedby last_loss_updatedby last_minmax_updatedby last_receipt_updatedby: string
? max min: number int32
? most_likely_datetime: string date-time
? most_likely_pool_1..10: number double
? next_delivery_datetime next_ordering_datetime: string date-time
? order_level: number double
? ordering_datetimes: array of string
? original_max original_min: number int32
? price: number double
? product_description product_number promotion_week purchase_unit_name: string
? purchase_unit_quantity: number double
? referral_product: string
? smallest_item_quantity: number double
? smallest_product_number: string
? store_locations: array of StockLocation
? store_number storeproduct_attention_codes: string
? validate_expiry_datetime: string date-time

StockLocation
! quantity: number double
? carrier_code default_stock_pool: string
? stock_pool_1..10: number double
? store_location_code: string
? tags: array of string

ProductStockResult
? products: array of ProductStock

ProductStock
! most_likely_stock: number double
? delivery_datetimes: array of string
? edit_min_max_percentage: number int32
? is_edit_min_max: boolean
? max min: number int32
? next_delivery_datetime next_ordering_datetime: string date-time
? ordering_datetimes: array of string
? product_number: string
? stock_pool_1..10: number double
? store_locations: array of StockLocation
? store_number: string

SurroundingStock
! is_warehouse: boolean
! most_likely_quantity: number double
? area_description area_id: string
? most_likely_pool_1..10: number double
? store_name store_number: string

Delivery
? datetime_created datetime_expected external_reference_number: string
? import_id: number
? is_downloaded: boolean
? no_of_containers: number
? order_lines: array of DeliveryLine
? order_number order_type status store_gln store_number: string
? store_origin: number
? supplier_code supplier_name tracing_url updated_on: string

DeliveryLine
? barcode base_unit category_code container_barcode customer_order_number customer_order_shipment_number: string
? customer_order_shipment_number_line_number: number
? description group_code: string
? line_number: number
? product_number purchase_unit_barcode purchase_unit_product_number: string
? purchase_unit_quantity quantity received_quantity target_stock_pool: number

Receipt
! order_number store_number: string
? datetime_created datetime_expected: string
? import_id order_type_id: number
? receipt_lines: array of ReceiptLine
? status store_gln supplier_code supplier_name: string

ReceiptLine
? id: number
? barcode category_code container_barcode description group_code: string
? line_number: number
? product_number: string
? received_quantity shipped_quantity: number
? updated_on: string

Location
! location_code: string
? id counter: number
? created_on: string
? customer_orders: array of string
? default_stock_pool: string
? location_order quantity: number
? stock: array of LocationStock

LocationStock
? customer_order_line_number: number
? customer_order_number: string
? customer_order_shipment_line_number: number
? customer_order_shipment_number: string
? mostlikelypool1..10: number
? product_description product_number: string
? quantity: number
? tags: array of string

LocationProduct
! product_number: string
? barcode: string
? customer_order_line_number: number
? customer_order_number: string
? customer_order_shipment_line_number: number
? customer_order_shipment_number image_url product_description: string
? quantity: number

StoreProductLog
! product_number store_number: string
? id: number
? app_user_name barcode cost_center: string
? counted_quantity counting_assignment_id counting_lines_remaining: number
? counting_lines_remaining_stockpool: StockPools
? created_on: string
? customer_order_line_number: number
? customer_order_number customer_order_shipment_number: string
? customer_order_shipment_number_line_number expected_quantity: number
? general_ledger_credit general_ledger_debit: string
? location: number
? location_code location_tag moved_on: string
? price purchase_price purchase_unit_quantity quantity reason_code: number
? reason_code_description reference: string
? reference_id: number
? review_status source stock_pool: string
? stock_pool_1..10: number
? store_products_price: number
? updated_on: string

StockPools
? stock_pool_1..10: number

LogResult
? data: array of number
? message: string
? success: boolean

Store
! storeName storeNo: string
? id: number
? areaDescription areaId countryCode inventLocation legalEntity: string
? isWarhouse: boolean
? lastOrderLineExportedOn: string
? storeStockPool1..10: string

ProductList
! page_number: number int64
! page_size: number int32
! total_record_count: number int64
? records: array of Product

Product
! barcode: string
! carrier_item_quantity: number double
! edit_min_max_percentage: number int32
! price_compare_multiplier: number double
! product_name product_number: string
! shelf_label_quantity: number int32
? allow_decimal: boolean
? attention_code: string
? average_weight: number double
? barcodes_array base_unit_name brand_code brand_description category_code: string
? color color_code size size_code variant_code variant_family: string
? variant_factor: number double
? countries_allowed countries_not_allowed: array of string
? country_code: string
? deprecation_date: string date-time
? expiration_min_range: number int32
? free_fields: array of ProductFreeField
? general_ledger image_url product_url: string
? is_active is_counted is_edit_min_max is_edit_replenishment is_expiration is_order_manually is_promotion: boolean
? is_set is_stock is_store_product is_template: boolean
? margin_category: string
? moq old_price price special_price promotion_price purchase_price: number double
? price_compare_unit price_lines product_details product_type: string
? promo_stores_allowed promo_stores_not_allowed: array of string
? promotion promotion_week purchase_unit_barcode purchase_unit_name purchase_unit_product_number: string
? purchase_unit_quantity: number double
? referral_product_id: string
? reset_store_stock: boolean
? set_product: array of SetProduct
? shelf_label shelf_label_barcode shelf_label_price: boolean
? shelf_label_layout: number int32
? smallest_product_number: string
? smallest_quantity: number double
? stores_allowed stores_not_allowed: array of string
? supplier_id supplier_name supplier_product_number: string
? units: array of ProductUnit
? volume: string

ProductFreeField
! sort_order: number int32
? key value: string

SetProduct
? set_item_quantity set_product_number: string

ProductUnit
! unit_quantity: number double
? unit_barcode unit_name: string

AttributeResult
! data: boolean
? code: number int32
? message status: string
"""

# Pages: the envelope's fields and, in `list`, the rows. What a page changes in its envelope is named here.
PAGES = """
CustomerOrderList PageEnvelope CustomerOrder | ? list | ! page_size page_start total_count
StoreProductStockList PageEnvelope StoreProductStock | ! list
DeliveryList PageEnvelope Delivery | ! list
ReceiptList PageCounts Receipt | ! list
LocationList PageEnvelope Location | ! list
LocationProductList PageEnvelope LocationProduct | ! list
StoreProductLogList PageEnvelope StoreProductLog | ! list
StoreList PageEnvelope Store | ! list
"""
