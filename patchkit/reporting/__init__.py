"""The report: its data, and how it is shown as text, as HTML and as advice."""
