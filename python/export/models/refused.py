class Refused(Exception):
    """What the user did; shown without a traceback."""

    def __init__(self, message, remedy=""):
        super().__init__(message)
        self.remedy = remedy
