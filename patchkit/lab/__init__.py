"""Build tiny models and run short trainings, for reproducers, the demo, tests and benchmarks."""
