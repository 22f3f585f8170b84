"""What patched code calls at run time. torch is imported only here, and only when called."""
