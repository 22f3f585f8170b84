"""`patchkit new`: the file of a patch and its test, begun from the installed source."""
