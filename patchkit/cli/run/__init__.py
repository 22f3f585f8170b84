"""`patchkit run`: a command with patchkit applied at the start of each of its interpreters.

The command gets a folder in front of PYTHONPATH that contains only a `sitecustomize`, which Python
imports as it starts, and one variable with the choices. To start it nothing is written to disk; as
they end, processes below the outermost interpreter may leave it a line in the temporary folder.
"""
