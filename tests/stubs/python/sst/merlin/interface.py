from sst.merlin.base import Settings

__all__ = ["LinkControl", "hr_router"]


class hr_router(Settings):
    ATTRIBUTES = ("link_bw", "flit_size", "xbar_bw", "input_latency", "output_latency", "input_buf_size", "output_buf_size",
                  "num_vns", "xbar_arb")


class LinkControl(Settings):
    ATTRIBUTES = ("link_bw", "input_buf_size", "output_buf_size")

    def build(self, component, slot, number, job, size, rank, use_nid_map, link=None):
        return component.setSubComponent(slot, "merlin.linkcontrol", number), "rtr_port"
