"""What goes wrong in a way that the user can do something about."""


class PostError(Exception):
    """One line for the user; the program ends with status 2."""
