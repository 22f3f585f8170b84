"""The parts of `workbench/film/command.py`."""
