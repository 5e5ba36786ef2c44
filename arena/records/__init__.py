"""Show recorded games as text, boards, plain data and pages, and validate them."""
