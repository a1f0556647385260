// What a program says about how its values are divided among devices (Shardy and GSPMD spellings).
//
// - A program is global where a partitioner has yet to act: shapes are those of the whole, and each device runs a part.
// - A partitioned program may keep the shardings of its arguments; it exchanges data itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace hespas::ir {

// Axes of the program's meshes and their sizes; those of all meshes together.
using MeshAxes = std::map<std::string, int64_t, std::less<>>;
MeshAxes MeshAxesOf(const Module& module);

// Devices that the program is written for: partitions times replicas, else what its mesh holds.
int64_t DevicesOf(const Module& module);

// Parts into which each dimension is cut. Equal where two shardings place the same data on the same device.
struct Tiling {
  std::vector<int64_t> parts;
  std::string placement;  // the axes of each dimension, or GSPMD's order of devices

  bool operator==(const Tiling&) const = default;
  bool replicated() const;
};
// From `#sdy.sharding<@mesh, [{"x"}, {}]>` or `<@mesh, ...>`, `"{devices=[1,8]<=[8]}"`, `"{replicated}"`; nullopt where
// the text says something else. Dimensions behind those that it names are whole.
std::optional<Tiling> TilingOf(std::string_view text, const MeshAxes& axes);

// The tiling that an argument's or result's attributes state; nullopt where they state none.
std::optional<Tiling> TilingOfAttributes(std::string_view dictionary, const MeshAxes& axes);

// Whether shapes are global and a partitioner (or the unwrapping of manual computations) has yet to act.
bool AwaitsPartitioner(const Module& module);

}  // namespace hespas::ir
