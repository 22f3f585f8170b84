"""Let scripts that were written for older releases run on the installed libraries."""
