"""Which test runs in which process: in any that is free, but for those that share what takes long to prepare.

A test that ends its process has failed: it is not tried again, and a new process goes on with the others.
"""

from contextlib import suppress

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# What they prepare takes long, and each worker would prepare it again: a browser, compiled programs, hundreds
# of tournaments, wheels, a database server, hosts in processes of their own, a library, all sources as trees.
SHARED = (
    "tests/blackbox/",
    "tests/browser/",
    "tests/calibration/",
    "tests/clients/test_quintain_bot.py",
    "tests/clients/test_starters.py",
    "tests/deploy/test_balancers.py",
    "tests/deploy/test_wheel.py",
    "tests/docs/test_sentences.py",
    "tests/server/export/test_verify_chain.py",
    "tests/server/peers/test_serving.py",
    "tests/server/protocols/test_mcp_sdk.py",
    "tests/server/show/test_show.py",
    "tests/server/store/",
    "tests/server/test_keeping.py",
    "tests/server/test_matrix.py",
    "tests/server/workers/test_workers.py",
    "tests/test_structure.py",
)

# Each message to a worker wakes two processes, which takes as long as many a test.
AT_ONCE = 8  # tests that a worker is given in one message, …
MANY = 100  # … or one for each so many that are left


class OneWorkerEach(LoadScopeScheduling):
    """Every test goes to whichever worker is free, but for those that share what takes long to prepare."""

    def schedule(self) -> None:
        """Give each worker two tests, and tell all of them if no more will come.

        A worker begins a test when it knows the next one, or that there is none: those that take the
        place of others would wait for ever.
        """
        super().schedule()
        ready = [node for node in self.nodes if self._is_ready(node)]
        for node in ready:
            while self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
                self._assign_work_unit(node)
        if not self.workqueue:
            for node in ready:
                node.shutdown()

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a worker; returns the test that has ended it, and that would end the next one, too."""
        work = self.assigned_work[node]
        for scope, unit in work.items():
            for test, done in unit.items():
                if not done:
                    unit[test] = True
                    if all(unit.values()):
                        del work[scope]
                    super().remove_node(node)
                    return test
        return super().remove_node(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """What is done is forgotten: to count it again after each of ten thousand tests takes seconds."""
        super().mark_test_complete(node, item_index, duration)
        assigned = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(assigned[scope].values()):
            del assigned[scope]

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give a worker several tests, if so many are left that no worker will end long before the others.

        If it has just ended, `remove_node` will give them to others.
        """
        at, given = self.registered_collections[node], list[int]()
        most = min(AT_ONCE, len(self.workqueue) // MANY)
        while not given or (self.workqueue and len(given) < most):
            scope, unit = self.workqueue.popitem(last=False)
            self.assigned_work[node][scope] = unit
            given += (at.index(test) for test, done in unit.items() if not done)
        with suppress(OSError):
            node.send_runtest_some(given)

    def _reschedule(self, node: WorkerController) -> None:
        if self._is_ready(node):
            super()._reschedule(node)

    def _is_ready(self, node: WorkerController) -> bool:
        """Whether a worker can be given tests: one in place of another has to find them first."""
        return node in self.registered_collections and not node.shutting_down

    def _split_scope(self, nodeid: str) -> str:
        return next((shared for shared in SHARED if nodeid.startswith(shared)), nodeid)
