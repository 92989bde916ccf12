"""The interface's request bodies, copied out by hand, independently of the code; written as in `document_answers`."""

BODIES = """
CustomerOrdersRequest
? orders: array of CustomerOrderCreate

CustomerOrderCreate
! order_number: string
? customer_city customer_country customer_email customer_name customer_number customer_phone customer_street: string
? customer_zipcode delivery_city delivery_country delivery_street delivery_zipcode description file_name: string
? is_active is_picked is_rejected: boolean
? order_comment: string
? order_lines: array of CustomerOrderLineCreate
? order_type order_type_code order_type_description reference sales_order_id: string
? status_id: number

CustomerOrderLineCreate
! line_number: number
! product_number: string
! quantity: number
? barcode delivery_date description full_fillment_status: string
? is_picked is_picked_from_warehouse: boolean
? ordering_datetime: string
? picked_quantity: number
? picking_stock_pool_array: array of string
? pickup_date preferred_location_code: string
? price: number
? reference: string
? stock_pool: number

MultiStoreCustomerOrdersRequest
? orders: array of MultiStoreCustomerOrderCreate

MultiStoreCustomerOrderCreate
! order_number: string
? customer_city customer_country customer_email customer_name customer_number customer_phone customer_street: string
? customer_zipcode delivery_city delivery_country delivery_street delivery_zipcode description: string
? is_picked: boolean
? order_comment: string
? order_lines: array of MultiStoreCustomerOrderLineCreate
? order_type_code order_type_description reference store_number: string
? stores_allowed: array of string

MultiStoreCustomerOrderLineCreate
! line_number: number
! product_number: string
! quantity: number
? barcode delivery_date description: string
? is_picked is_picked_from_warehouse: boolean
? ordering_datetime pickup_date: string
? picked_quantity price stock_pool: number

CustomerOrderUpdateRequest
? orders: CustomerOrderUpdate

CustomerOrderUpdate
! order_number: string
? is_active is_claimed is_picked is_rejected: boolean
? order_lines: array of CustomerOrderLineUpdate
? rejection_reason_code rejection_reason_code_description: string

CustomerOrderLineUpdate
! line_number: number
! product_number: string
? barcode delivery_date description: string
? is_picked is_picked_from_warehouse: boolean
? ordering_datetime: string
? picked_quantity: number
? pickup_date preferred_location_code: string
? price quantity stock_pool: number

ClearanceRequest
? category_codes: array of string

StoreProductUpdate
! product_number: string
? attention_codes: array of string
? average_array: array of number
? average_keys: array of string
? default_salesorder_type: string
? demand_until_delivery discount_price: number
? expiry_date_time: string
? forecast_array: array of number
? forecast_keys: array of string
? history_array: array of number
? history_keys: array of string
? is_promotion is_replenishment: boolean
? max min: number
? next_delivery_date next_ordering_date: string
? order_level price: number
? validate_expiry_date_time: string

StoreDeliveriesRequest
? orders: array of StoreDeliveryCreate

StoreDeliveryCreate
! no_of_containers: number
! order_number: string
? datetime_created datetime_expected description: string
? order_lines: array of StoreDeliveryLineCreate
? order_type reason_code store_origin: number
? supplier_code supplier_name tracing_url: string

StoreDeliveryLineCreate
! product_number: string
! quantity: number
? barcode container_barcode: string
? customer_order_line_number: number
? customer_order_number customer_order_shipment_number: string
? customer_order_shipment_number_line_number: number
? description: string
? line_number purchase_price secondary_order_line_number: number
? secondary_order_number: string
? target_stock_pool: number

MultiStoreDeliveriesRequest
? orders: array of MultiStoreDeliveryCreate

MultiStoreDeliveryCreate
! no_of_containers: number
! order_number store_number supplier_name: string
? datetime_created datetime_expected description: string
? order_lines: array of MultiStoreDeliveryLineCreate
? order_type reason_code: number
? supplier_code tracing_url: string

MultiStoreDeliveryLineCreate
! quantity: number
? barcode container_barcode: string
? customer_order_line_number: number
? customer_order_number customer_order_shipment_number: string
? customer_order_shipment_number_line_number: number
? description: string
? line_number: number
? product_number: string
? secondary_order_line_number: number
? secondary_order_number: string
? target_stock_pool: number

StoreProductLogsRequest
? storeproductlog: array of StoreProductLogCreate

StoreProductLogCreate
? app_user_name customer_order_number location_code loss_comment loss_image loss_order_number product_number: string
? reference source: string
? counted_quantity customer_order_line_number expected_quantity pool_location quantity reason_code: number
? modification_datetime order_after_date scanned_datetime: string
? stock_pool_1..10: number

StoresRequest
? stores: array of StoreCreate

StoreCreate
! is_active is_active_data_exchange is_warehouse: boolean
! store_name store_number: string
? address area_description area_id: string
? area_manager_user_id: number
? city contact_details cost_center country_code country_name esl_server_path: string
? free_fields: array of StoreFreeField
? ip_range_begin ip_range_end local_server_path: string
? opening_hours: array of StoreFreeField
? ordering_schema: array of OrderingSchema
? phone_number postal_code: string
? price_line_id: number
? store_gln store_next_delivery_datetime store_next_ordering_datetime: string
? store_printers: array of StorePrinter
? store_stock_pool_1..10: string
? store_type_code store_type_description: string

StoreFreeField
? key: string
? sort_order: number
? value: string

OrderingSchema
! day delivery_offset: number
! time: string
? category_code: string
? ordering_offset: number
? week_numbers: string

StorePrinter
! is_bluetooth: boolean
? printer_ip printer_name printer_serial: string
? printer_type: number
? vendor: string

MovementItem
? allow_overage: boolean
? from_location to_location: MovementEnd
? product_number: string
? quantity: number
? reason_code reference source: string

MovementEnd
? customer_order_line_number: number
? customer_order_number: string
? customer_order_shipment_line_number: number
? customer_order_shipment_number location_code: string
? stock_pool: number
"""

# What the document does not show, and the contract fills in on its own account.
ASSUMED_MODELS = (
    "StoreProductCreate StoreProductsRequest ProductFreeFieldCreate SetProductCreate ProductUnitCreate ProductWrite"
    " ProductsRequest DeleteProductsRequest ProductAttributes ProductAttributesRequest ProductPrice PricesRequest"
    " ProductDiscountPrice DiscountPricesRequest ProductFreeFields ProductFreeFieldsRequest"
)
