"""Grades exercises on speculative decoding exactly, without ever trusting the file it grades."""

__version__ = "0.1.0"
