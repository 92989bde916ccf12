"""Pure functions from bytes and times to inputs, and from codes to meanings.

First `decoder` turns bytes into lines and keys, and `inputs_and_line_grouping` numbers the lines of one scan. Then
`grammar.parse` turns a line into interpretations, the caller looks them up, and `resolve` returns the meaning. This
package must not know a clock, a terminal, a database, or what a job does with a meaning. It imports nothing of ours
but the top modules. Start with `grammar_and_meaning_types` (the types), then `grammar`.
"""
