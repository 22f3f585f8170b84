"""The parts of `scripts/terminal_film.py`."""
