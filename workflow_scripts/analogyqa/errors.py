"""The one exception that a user is meant to read."""


class AnalogyQAError(Exception):
    """Something the user can mend.

    The message is complete by itself: it names the file (and line) or the key, the cause, and
    the remedy. Scripts print it without a traceback and exit with status 1.
    """
