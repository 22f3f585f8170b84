"""What happened, as data, and how it is said: as text, as HTML, and as advice."""
