"""Pure: bytes and times to inputs, codes to meanings."""
