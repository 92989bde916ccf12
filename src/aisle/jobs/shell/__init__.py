"""Signing in, home, help, the list of commands, the scanner's doctor."""
