"""The same screens in a browser: textual-serve's page and packets, behind a door of our own.

`door` answers requests, `address` says where they come from, `signed` knows who is signed in, `screen` is one session's
process, `pages` is what is sent besides the screen itself, `serve` listens.
"""
