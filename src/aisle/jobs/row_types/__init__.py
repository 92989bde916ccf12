"""Types of the rows that queries return, one for each query: `<QueryName>Row`, with all its fields.

aisle.cache fills them, jobs parse them. They are types only and imported under TYPE_CHECKING, because creating them
costs a tenth of the start of a session. Rows built on an object of the service (`Service…`) declare what is used of it
and may have its other fields too.
"""
