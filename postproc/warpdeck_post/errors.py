"""What goes wrong in a way that the user can do something about."""


class PostError(Exception):
    """One line for the user; the program ends with status 2."""


def cannot_write(path, error):
    """The error for a file that could not be made or filled."""
    return PostError(f"cannot write '{path}': {error.strerror}; --output takes "
                     "another place")
