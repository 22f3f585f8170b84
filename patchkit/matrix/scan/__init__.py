"""Judge each patch by the source of modules, without running anything of them."""
