"""Messages that people read, as one ARB file for each language, and their loader.

It knows no job, screen or service. `en.arb` is the source and has the types of arguments; the other languages have the
same ids. `messages_of_language` loads them and has the formats of numbers, dates and plurals; `aisle.tui.message_text`
turns a message into text.
"""
