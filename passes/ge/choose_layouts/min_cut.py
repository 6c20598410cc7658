"""Minimum cut of a directed graph with capacities, by Dinic's algorithm.

E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970. Iterative,
because chains in models are longer than Python's recursion limit.
"""

from __future__ import annotations

from collections import deque


class FlowNetwork:
    """Nodes are numbers from `add_node`; `source` and `sink` exist from the start."""

    def __init__(self) -> None:
        self._edges: list[list[int]] = []  # per node: indices into the three lists below
        self._head: list[int] = []
        self._capacity: list[int] = []
        self.source = self.add_node()
        self.sink = self.add_node()

    def add_node(self) -> int:
        """A new node without edges."""
        self._edges.append([])
        return len(self._edges) - 1

    def add_edge(self, tail: int, head: int, capacity: int) -> None:
        """Allow `capacity` units from `tail` to `head`: what it costs to have the first on the source side alone."""
        if tail == head or capacity <= 0:
            return
        for start, end, room in ((tail, head, capacity), (head, tail, 0)):  # an edge and its reverse are neighbours
            self._edges[start].append(len(self._head))
            self._head.append(end)
            self._capacity.append(room)

    def _levels(self) -> list[int]:
        """Distance of every node from the source along edges with room, -1 when out of reach."""
        level = [-1] * len(self._edges)
        level[self.source] = 0
        queue = deque([self.source])
        while queue:
            node = queue.popleft()
            for edge in self._edges[node]:
                head = self._head[edge]
                if self._capacity[edge] and level[head] < 0:
                    level[head] = level[node] + 1
                    queue.append(head)
        return level

    def _augment(self, level: list[int], position: list[int]) -> int:
        """Push flow along one path of rising levels; 0 when there is none."""
        path: list[int] = []
        node = self.source
        while node != self.sink:
            edges = self._edges[node]
            while position[node] < len(edges):
                edge = edges[position[node]]
                if self._capacity[edge] and level[self._head[edge]] == level[node] + 1:
                    break
                position[node] += 1
            if position[node] < len(edges):
                path.append(edges[position[node]])
                node = self._head[path[-1]]
            elif path:  # a dead end: step back and take the next edge
                node = self._head[path.pop() ^ 1]
                position[node] += 1
            else:
                return 0
        flow = min(self._capacity[edge] for edge in path)
        for edge in path:
            self._capacity[edge] -= flow
            self._capacity[edge ^ 1] += flow
        return flow

    def _reaching_sink(self) -> list[bool]:
        """Per node, whether some path with room leads from it to the sink."""
        reached = [False] * len(self._edges)
        reached[self.sink] = True
        queue = deque([self.sink])
        while queue:
            node = queue.popleft()
            for edge in self._edges[node]:
                tail = self._head[edge]
                if self._capacity[edge ^ 1] and not reached[tail]:
                    reached[tail] = True
                    queue.append(tail)
        return reached

    def cut(self) -> tuple[int, list[bool]]:
        """The cost of a cheapest cut and, per node, whether it is on the source side.

        Of several cheapest cuts this is the one with the most nodes on the source side.
        """
        total = 0
        while True:
            level = self._levels()
            if level[self.sink] < 0:
                reaches = self._reaching_sink()
                return total, [not near for near in reaches]
            position = [0] * len(self._edges)
            while flow := self._augment(level, position):
                total += flow
