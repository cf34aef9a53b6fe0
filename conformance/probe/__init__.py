"""What designed inputs show of a backend's arithmetic."""
