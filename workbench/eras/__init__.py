"""The parts of `legacy_eras.py`."""
