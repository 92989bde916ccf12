"""Samples of every screen, for snapshot tests, translations and screenshots.

They build frames by the jobs themselves, and know no session. Start reading at `registry.SAMPLES`.
"""
