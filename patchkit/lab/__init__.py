"""What reproducers, the demo, tests and benchmarks share: tiny models and short trainings."""
