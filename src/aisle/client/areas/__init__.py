"""The 29 operations as typed methods, one module per area of the document.

Path parameters and documented query parameters are keyword arguments; None means not sent. `flush`, which deletes all
that was there before, is no argument of any method: it can be sent through `Client.request` alone.
"""
