"""Everything that stops a grading, as one small family.

GradeError
├── UsageError     the caller asked for something impossible (exit code 2)
└── KitFault       the kit or the grader is broken; nobody's score (exit code 3)

A wrong, hanging or crashing submission is neither: it is a graded outcome.
"""


class GradeError(Exception):
    """A grading that cannot be done; the message says where, what and what to do."""


class UsageError(GradeError):
    """The request is at fault: a file that cannot be read, a problem that does not exist."""


class KitFault(GradeError):
    """The kit is at fault: a broken problem, a failing reference, a crash of the grader itself.

    check: the function name of the check it happened in, where it is one check's fault.
    """

    def __init__(self, message: str, check: str | None = None) -> None:
        super().__init__(message)
        self.check = check
