"""usage: PJRT_DEVICE=CPU python export_block.py FOLDER     (torch 2.6.0, torch_xla 2.6.0)

Writes block.mlir and block.mlirbc: one transformer block, batch 2, 16 tokens, width 64, 4 heads, through torch.export.
"""
import pathlib
import sys

import torch
from torch import nn
from torch_xla.stablehlo import exported_program_to_stablehlo


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        head = width // self.heads
        query, key, value = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, head).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(query @ key.transpose(-1, -2) / head**0.5, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


folder = pathlib.Path(sys.argv[1])
program = exported_program_to_stablehlo(torch.export.export(Block().eval(), (torch.zeros(2, 16, 64),)))
(folder / "block.mlir").write_text(program.get_stablehlo_text())
(folder / "block.mlirbc").write_bytes(program.get_stablehlo_bytecode())
