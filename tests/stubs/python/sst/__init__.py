"""A stand-in for the module that SST gives its Python programs: it only notes what they build."""
COMPONENTS = {}


class Component:
    def __init__(self, name, kind):
        assert name not in COMPONENTS, name
        self.name, self.kind, self.params, self.slots = name, kind, {}, {}
        COMPONENTS[name] = self

    def addParams(self, params):
        self.params.update(params)

    def setSubComponent(self, slot, kind, number=0):
        self.slots[slot, number] = kind
        return self
