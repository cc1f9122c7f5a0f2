"""The shortest cycle through a node of a small graph, whose arcs are all in memory."""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel


@kernel
def shortest_cycle(arcs, start):
    """Find the length of the shortest cycle through a node, by Dijkstra's algorithm."""
    nodes = len(arcs)
    distance, is_open = arcs[start].copy(), np.ones(nodes, np.bool_)
    is_open[start] = False
    shortest = np.inf
    while True:
        node, least = -1, shortest
        for k in range(nodes):
            if is_open[k] and distance[k] < least:
                node, least = k, distance[k]
        if node < 0:
            return shortest
        is_open[node] = False
        shortest = min(shortest, least + arcs[node, start])
        for k in range(nodes):
            if is_open[k]:
                distance[k] = min(distance[k], least + arcs[node, k])
