"""Screens of the pages, one for each kind of page and layout; each has a style sheet of its name in `styles/`.

A screen is made of the widgets of `tui/widgets`. The screens know parts of pages, but no session. Start reading at
`page_screens`; `app.AisleApp.MODES` names the screen of each kind of page.
"""
