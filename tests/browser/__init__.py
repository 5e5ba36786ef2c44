"""Pages in a real browser: headless Chromium, by Playwright."""
