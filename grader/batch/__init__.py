"""A class at once: reading what was handed in, grading it in lanes, and telling what came of it."""
