"""The code that runs beside a learner's, kept small; it is run by path and imports no other part.

In a worker process this folder is the first entry of the path just long enough to import its own
modules by their plain names (`wire`, `codec`, …). The grader itself imports only those that import
nothing of the project: `wire`, `locks`, `landlock` and `seccomp`.
"""
