"""Messages that people read, as data, and their loader.

It knows no job, screen or service. Each language is a package with the same parts (`en.PARTS`); a message has an id and
one or several lengths. Start reading at `loader`; `languages` has the formats of numbers, dates and plurals;
`aisle.tui.message_text` turns a message into text.
"""
