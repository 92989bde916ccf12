"""Settings of a terminal: settings.toml, AISLE_* variables, command line; key bindings and the zone of times.

Start with `setting_definitions` (the settings and their defaults), then `load_settings` (which value is in force) and
`settings_files_and_folders`. `parse_settings_file` parses settings.toml and is loaded only if a file exists, so that
starting stays fast. Nothing here knows jobs, sessions, the courier or the service.
"""
