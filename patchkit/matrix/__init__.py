"""The compatibility matrix: the patches measured, the versions, and the outcomes."""
