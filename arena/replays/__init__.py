"""Show one game: as text, as plain data, and as a page; judge records. Plays nothing."""
