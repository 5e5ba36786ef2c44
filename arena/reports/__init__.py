"""Reports of runs as data, and written as HTML and Markdown."""
