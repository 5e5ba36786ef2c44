"""What games add up to: ratings and tables. Pure functions of rows; no files, no processes."""
