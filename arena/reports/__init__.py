"""Reports: what runs add up to, as a document, and as HTML and Markdown made of it."""
