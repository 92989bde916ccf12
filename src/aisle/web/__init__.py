"""The same screens in a browser, by textual-serve's page.

`app` answers requests, `address` says where they come from, `sign_ins` knows who is signed in, `app_process` is one
session's process, `pages` is what is sent besides the screen itself, `serve` listens.
"""
