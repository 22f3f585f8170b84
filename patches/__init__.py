"""The catalogue: one file for each upstream bug, by the library that has it."""
