"""What the papers print and claim, as data (published/)."""
