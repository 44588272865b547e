"""Ends the process before it defines anything."""

import os

os._exit(0)
