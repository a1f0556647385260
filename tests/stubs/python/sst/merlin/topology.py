import math

from sst.merlin.base import Settings

__all__ = ["topoDragonFly", "topoFatTree", "topoHyperX", "topoSingle", "topoTorus"]


class topoSingle(Settings):
    ATTRIBUTES = ("router", "link_latency", "num_ports")

    def getNumNodes(self):
        return self.num_ports


class topoTorus(Settings):
    ATTRIBUTES = ("router", "link_latency", "host_link_latency", "shape", "width", "local_ports", "bundleEndpoints")

    def getNumNodes(self):
        assert len(self.shape.split("x")) == len(self.width.split("x"))
        return math.prod(map(int, self.shape.split("x"))) * self.local_ports


class topoHyperX(topoTorus):
    ATTRIBUTES = (*topoTorus.ATTRIBUTES, "algorithm")


class topoFatTree(Settings):
    ATTRIBUTES = ("router", "link_latency", "host_link_latency", "shape")

    def getNumNodes(self):
        return math.prod(int(level.split(",")[0]) for level in self.shape.split(":"))


class topoDragonFly(Settings):
    ATTRIBUTES = ("router", "link_latency", "host_link_latency", "hosts_per_router", "routers_per_group", "num_groups",
                  "intergroup_links", "algorithm")

    def getNumNodes(self):
        return self.hosts_per_router * self.routers_per_group * self.num_groups
