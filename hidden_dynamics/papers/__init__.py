"""The papers' numbers and claims, as data (published/)."""
