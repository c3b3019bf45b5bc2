"""How many steps of the interpreter something takes: the same on every machine, however busy it is.

A step is one instruction of Python's bytecode. What is done in C (a sort, a
product of matrices, the parsing of a number) is one step however long it
takes. Speed in seconds is measured by `make bench`.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_taken(work: Callable[[], object]) -> int:
    """The steps that it takes to do this once."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
