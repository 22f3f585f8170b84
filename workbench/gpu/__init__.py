"""The parts of `gpu_check.py`: what each measures, and how they are run, written and shown."""
