"""Functions that patched code calls. torch is imported only in here, and only by a call."""
