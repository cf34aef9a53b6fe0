"""Scripts that show what a backend gets wrong without this package."""
