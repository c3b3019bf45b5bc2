"""How many steps of the interpreter something takes: the same on every machine, however busy it is.

A step is one instruction of Python's bytecode. What is done in C (a sort, a
product of matrices, the parsing of a number) is one step however long it
takes. Speed in seconds is measured by `make bench`.
"""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_taken(work: Callable[[], object]) -> int:
    """The steps that it takes to do this once.

    No garbage is collected meanwhile: hypothesis, for one, runs code of its own whenever that happens.
    """
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return count
