"""The classes of Merlin's module that our program uses, with the attributes that they accept and no others."""
import sst

__all__ = ["Job", "System", "Settings"]


class Settings:
    ATTRIBUTES = ()

    def __setattr__(self, name, value):
        if name not in self.ATTRIBUTES:
            raise KeyError(f"{type(self).__name__} has no attribute {name}")
        object.__setattr__(self, name, value)


class Job:
    def __init__(self, job_id, size):
        self.job_id, self.size, self.network_interface, self._nid_map = job_id, size, None, None


class System:
    def setTopology(self, topology):
        self.topology, self.jobs = topology, {}

    def allocateNodes(self, job, method, nodes):
        assert method == "indexed" and len(set(nodes)) == job.size <= self.topology.getNumNodes(), nodes
        job._nid_map = {node: rank for rank, node in enumerate(nodes)}
        self.jobs.update({node: job for node in nodes})

    def build(self):
        sst.TOPOLOGY = self.topology
        for name in ("link_bw", "flit_size", "xbar_bw", "input_buf_size", "output_buf_size"):
            assert getattr(self.topology.router, name).endswith(("B", "B/s")), name
        for node, job in self.jobs.items():
            component, port = job.build(node, {})
            assert port == "rtr_port" and component.slots == {("networkIF", 0): "merlin.linkcontrol"}
