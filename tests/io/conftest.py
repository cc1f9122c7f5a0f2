from tests.support.command_line import points, saved

__all__ = ["points", "saved"]
