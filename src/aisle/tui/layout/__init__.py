"""Pure layout: a frame becomes lines of text with roles, for a screen of any size, without a terminal."""
