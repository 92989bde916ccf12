"""Pure functions from bytes and times to inputs, and from codes to meanings.

Order: `decoder` (bytes to lines and keys), `line_grouping` (lines of one scan), `grammar.parse` (a line to
interpretations), look-up by the caller, `resolve` (interpretations and candidates to a meaning). This package must not
know a clock, a terminal, a database, or what a job does with a meaning. It imports nothing of ours but the top modules.
Start with `meaning` (the types), then `grammar`.
"""
