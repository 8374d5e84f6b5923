"""Games kept as small files: recorded, read, checked, stepped through, and shown as pages and pictures."""
