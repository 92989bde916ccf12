"""Widgets of the pages: each draws the lines that the pure layout makes for it.

They know lines and clicks, but no session. Start reading at `page_widgets`.
"""
