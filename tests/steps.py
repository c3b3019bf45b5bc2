"""How many steps of the interpreter something takes: the same on every machine, however busy it is.

A step is one instruction of Python's bytecode. What is done in C (a sort, a
product of matrices, the parsing of a number) is one step however long it
takes. Speed in seconds is measured by `make bench`.
"""

import gc
import sys
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

TOOL = 4  # of the numbers that tools for `sys.monitoring` have, one that no tool is known to take


def steps_taken(work: Callable[[], object]) -> int:
    """The steps that it takes to do this once.

    No garbage is collected meanwhile: hypothesis, for one, runs code of its own whenever that happens.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return _monitored(work) if hasattr(sys, "monitoring") else _traced(work)
    finally:
        if collects:
            gc.enable()


def _monitored(work: Callable[[], object]) -> int:
    """From Python 3.12 on: a trace there misses the steps of what has begun before anybody traced it."""
    count, mine, events = 0, get_ident(), sys.monitoring.events

    def step(_: CodeType, __: int) -> None:
        nonlocal count
        count += get_ident() == mine

    sys.monitoring.use_tool_id(TOOL, "steps")
    sys.monitoring.register_callback(TOOL, events.INSTRUCTION, step)
    sys.monitoring.set_events(TOOL, events.INSTRUCTION)
    try:
        work()
    finally:
        sys.monitoring.set_events(TOOL, events.NO_EVENTS)
        sys.monitoring.free_tool_id(TOOL)
    return count


def _traced(work: Callable[[], object]) -> int:
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
