"""A sample of every page, for snapshots, languages and screenshots."""
