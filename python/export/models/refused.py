class Refused(Exception):
    """What the user did; shown without a traceback."""
