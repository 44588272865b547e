"""`python -P -m grader`: the `grade` command, for where its script is not on the path."""

from grader.cli import main

main()
