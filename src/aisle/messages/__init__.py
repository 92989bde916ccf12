"""Messages that people read, as one ARB file for each language, and their loader.

It knows no job, screen or service. `en.arb` is the source and has the types of arguments; the other languages have the
same ids. Start reading at `load_and_parse`; `language_formats` has the formats of numbers,
dates and plurals, and `aisle.tui.message_text` turns a message into text.
"""
