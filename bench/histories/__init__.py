"""What the check of histories finds in each store that it can drive."""
