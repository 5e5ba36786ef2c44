"""Reports of runs as data, written as HTML and Markdown, and how pages are served."""
