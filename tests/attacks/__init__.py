"""Attacks on the running parts, bounded and on loopback: each row does what somebody who means harm would do.

The short form runs by default; what takes longer is marked `full`.
"""
