"""What maintainers run from a checkout: `python -m workbench`. It is no part of the wheel."""
