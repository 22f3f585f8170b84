"""Write the file of a new patch and its test from the installed source: `patchkit new`."""
