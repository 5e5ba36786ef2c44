"""`arena new`: the file of a new bot and its test, from a template that plays."""
