"""Functions that patched code calls. They import torch, and only when they are called."""
