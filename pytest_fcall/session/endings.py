"""Ways for a case to end other than by a verdict, and for a run not to start."""

from __future__ import annotations


class SettingError(ValueError):
    """A setting cannot be used, so that nothing should run. The text names it and says what to write."""


class CaseEnded(BaseException):
    """The case, or the plain test, ends here. The text is all that people need to read.

    It is no Exception, so that no `except Exception` of a team's own code can take it for an answer.
    """


class CaseError(CaseEnded):
    """The case cannot be asked or judged."""


class CaseSkipped(CaseEnded):
    """The case is not asked, on purpose."""


class EndedByApp(Exception):
    """An app ended the test that asked it, as only the test may: by `pytest.skip()` and the like."""


def without_own_frames(error: BaseException) -> BaseException:
    """Cut a traceback down to the frames below this package, if there are any."""
    below = here = error.__traceback__
    while here is not None:
        if str(here.tb_frame.f_globals.get("__name__", "")).startswith("pytest_fcall."):
            below = here.tb_next
        here = here.tb_next
    return error.with_traceback(below or error.__traceback__)
