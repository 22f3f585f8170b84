"""Scan the sources of releases for the state of each patch, without running anything of them.

A preview uses two modules of this package, and needs neither pip nor wheels.
"""
