"""Stock as a ledger: balances, the legs that made them, and the rules that write legs (README: Stock)."""
