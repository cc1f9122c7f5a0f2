"""Ctrl-C while Numba loads or compiles a kernel: it comes a moment later instead of being swallowed.

LLVM asks for the machine code of a kernel that is loaded, and hands over that of a kernel that is compiled,
by calling Python from C. An exception that is raised there is printed and lost, and the kernel with it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

#: The module with the functions that C calls, and how their names begin.
_CALLED_MODULE, _CALLED_NAMES = "llvmlite.binding.executionengine", "_raw_object_cache"


class Patience:
    """Let Ctrl-C wait for the end of the block, if `all_along` or if it comes within such a call.

    Only the main thread hears of it, so that nothing is done in others, nor where it is not an exception.
    """

    def __init__(self, all_along: bool) -> None:
        self._all_along = all_along
        self._before: Any = None
        self._frames: list[FrameType | None] = []

    def __enter__(self) -> None:
        """Begin to wait."""
        self._before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._hear)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Pass on what came."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._frames:
                self._before(signal.SIGINT, self._frames.pop())

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._all_along or _is_called_by_c(frame):
            self._frames.append(frame)
        else:
            self._before(number, frame)


def _is_called_by_c(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name.startswith(_CALLED_NAMES):
            return frame.f_globals.get("__name__") == _CALLED_MODULE
        frame = frame.f_back
    return False
