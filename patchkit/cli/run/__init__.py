"""`patchkit run`: a command with patchkit applied at the start of each of its interpreters.

The command gets a folder in front of PYTHONPATH that contains only a `sitecustomize`, which Python
imports as it starts, and one variable with the choices. Nothing is written to disk, so nothing is
left behind, however the command ends.
"""
