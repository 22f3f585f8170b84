"""What is measured, recorded in the matrix, held against the patches, and drawn."""
