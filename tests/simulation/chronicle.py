"""What is written down while a simulated world goes its way: all that happens, and what is wrong with it."""

from trio.testing import MockClock


class Chronicle:
    def __init__(self, clock: MockClock, tracing: bool) -> None:
        """What happens is written down where it is traced; what is wrong, always."""
        self.complaints: list[str] = []
        self.trace: list[str] = []
        self._clock = clock
        self._tracing = tracing

    def note(self, text: str) -> None:
        if self._tracing:
            self.trace.append(f"{self._clock.current_time():12.6f} {text}")

    def complain(self, complaint: str) -> None:
        self.note(f"!! {complaint}")
        self.complaints.append(complaint)
