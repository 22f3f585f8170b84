"""Try every model type that Transformers knows, tiny, without patchkit and with it."""
