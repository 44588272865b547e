"""Packages for platforms where courses are: one module each, of which `write` is public.

Their scripts and pages lie beside them, in a folder of the platform's name, as data.
"""
