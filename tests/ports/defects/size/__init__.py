"""What shows at a size or at a count."""
