"""`hespas split --format dot|svg`: nodes, arrows and colours are those of the blocks; large graphs are drawn by layer."""
import gzip
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from command import LLAMA, result, run  # noqa: E402

A100 = ["--device", "A100_SXM_40GB"]
SVG = "{http://www.w3.org/2000/svg}"
DIAMOND = """
  func.func @main(%a: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %1 = stablehlo.tanh %0 : tensor<2048x2048xf32>
    %2 = "stablehlo.all_reduce"(%0) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %3 = stablehlo.add %1, %2 : tensor<2048x2048xf32>
    return %3 : tensor<2048x2048xf32>
  }
"""


def chain(count, layers=0):
    """`count` operations behind each other, in `layers` named runs."""
    lines = ["func.func @main(%x0: tensor<64xf32>) -> tensor<64xf32> {"]
    for i in range(count):
        name = f' loc("jit(f)/layers_{i * layers // count}/tanh")' if layers else ""
        lines.append(f"%x{i + 1} = stablehlo.tanh %x{i} : tensor<64xf32>{name}")
    return "\n".join([*lines, f"return %x{count} : tensor<64xf32>", "}"])


def dot(text, *words):
    """Labels with fill and border colours by number, and arrows."""
    done = run("split", "-", *A100, *words, "--format", "dot", stdin=text)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("digraph blocks {", "}")
    nodes = {int(m[1]): (m[2], m[4], m[5]) for m in
             (re.fullmatch(r'  (\d+) \[label="((?:[^"\\]|\\.)*)", tooltip="((?:[^"\\]|\\.)*)", fillcolor="(#\w{6})", color="(#\w{6})"\];', line) for line in lines) if m}
    edges = {(int(m[1]), int(m[2])) for m in (re.fullmatch(r"  (\d+) -> (\d+);", line) for line in lines) if m}
    return nodes, edges


def svg(text, *words):
    """Nodes by number as (label, fill, border, x, y), and arrows, as Graphviz draws them."""
    done = run("split", "-", *A100, *words, "--format", "svg", stdin=text)
    assert done.returncode == 0, done.stderr
    root = xml.fromstring(done.stdout)
    nodes, edges = {}, set()
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if group.get("class") == "node":
            label, (path, *_) = group.find(f".//{SVG}text"), group.findall(f".//{SVG}path") + group.findall(f".//{SVG}polygon")
            nodes[int(title.text)] = (label.text, path.get("fill"), path.get("stroke"), float(label.get("x")), float(label.get("y")))
        elif group.get("class") == "edge":
            edges.add(tuple(int(end) for end in title.text.split("->")))
    return root, nodes, edges


class GraphTest(unittest.TestCase):
    def test_nodes_and_arrows_are_those_of_the_table(self):
        for words in (["--optimise", "none"], ["--split", "linear"]):
            rows = result("split", "-", *A100, *words, stdin=DIAMOND)
            nodes, edges = dot(DIAMOND, *words)
            self.assertEqual(set(nodes), {row["block"] for row in rows})
            wanted = {(int(p), row["block"]) for row in rows for p in str(row["predecessors"]).split()}
            self.assertEqual(edges, wanted)
            self.assertTrue(edges)

    def test_colours_tell_bound_and_kind(self):
        nodes, _ = dot(DIAMOND)
        by_name = {label.split(": ")[1]: (fill, border) for label, fill, border in nodes.values()}
        self.assertEqual(by_name["dot_general"][0], "#9cc3ee")  # compute
        self.assertEqual(by_name["add"][0], "#f3b48d")          # memory
        self.assertEqual(by_name["all_reduce"], ("#8fd6c0", "#0b5a48"))
        self.assertEqual(by_name["tanh"][1], by_name["add"][1])
        self.assertEqual(len({border for _, border in by_name.values()}), 3)

    def test_svg_draws_the_same_graph(self):
        nodes, edges = dot(DIAMOND)
        _, drawn, arrows = svg(DIAMOND)
        self.assertEqual({i: row[:3] for i, row in drawn.items()}, nodes)
        self.assertEqual(arrows, edges)
        for before, after in edges:
            self.assertLess(drawn[before][4], drawn[after][4])

    def test_svg_without_graphviz_names_the_remedy(self):
        done = run("split", "-", *A100, "--format", "svg", stdin=DIAMOND, environment={"PATH": ""})
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[E0958]: Graphviz's `dot` is not in PATH", done.stderr)
        self.assertIn("install graphviz, or use --format dot", done.stderr)
        done = run("split", "-", *A100, "--format", "dot", stdin=DIAMOND, environment={"PATH": ""})
        self.assertEqual(done.returncode, 0)

    def test_up_to_500_blocks_are_drawn_one_by_one(self):
        self.assertEqual(len(dot(chain(500, 10))[0]), 500)

    def test_beyond_500_blocks_a_layer_is_one_node(self):
        nodes, edges = dot(chain(600, 12))
        self.assertEqual([label for label, _, _ in nodes.values()], [f"layers_{i} (50)" for i in range(12)])
        self.assertEqual(edges, {(i, i + 1) for i in range(11)})
        self.assertEqual(len(svg(chain(600, 12))[1]), 12)

    def test_without_layers_runs_of_equal_length_are_nodes(self):
        nodes, edges = dot(chain(1200))
        self.assertLessEqual(len(nodes), 500)
        self.assertEqual(edges, {(i, i + 1) for i in range(len(nodes) - 1)})
        self.assertEqual(nodes[0][0].split(" to ")[0], "blocks 0")
        self.assertEqual(nodes[len(nodes) - 1][0].split(" to ")[1], "1199")

    def test_a_real_program_collapses_and_stays_acyclic(self):
        text = gzip.decompress(LLAMA.read_bytes()).decode()
        nodes, edges = dot(text)
        self.assertLessEqual(len(nodes), 500)
        self.assertTrue(all(a < b for a, b in edges))

    def test_names_with_quotes_stay_inside(self):
        root, drawn, _ = svg(chain(600, 2).replace("layers_1", "a<b>&_1"))
        self.assertIn("a<b>&_1 (300)", [row[0] for row in drawn.values()])
        self.assertEqual(root.tag, f"{SVG}svg")


if __name__ == "__main__":
    unittest.main()
