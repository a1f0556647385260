// Attributes of particular ops, decoded into plain structs.
//
// - Each function returns nothing where the op lacks the attribute or its text makes no sense; verified modules
//   always decode. Absent optional parts get their defaults.
// - Texts may be of any StableHLO or MHLO version, raw pretty spellings, or HLO's (`{{0,1}}`, `[2,4]<=[8]`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace hespas::ir {

using Dimensions = std::vector<int64_t>;

// dot_general, and dot, whose dimensions follow from the ranks.
struct DotDimensions {
  Dimensions lhs_batching;
  Dimensions rhs_batching;
  Dimensions lhs_contracting;
  Dimensions rhs_contracting;
  bool operator==(const DotDimensions&) const = default;
};
std::optional<DotDimensions> DotDimensionsOf(const Module& module, OpId op);
// `#stablehlo.dot<...>`, every list written out.
std::string DotDimensionsText(const DotDimensions& dot);

struct ConvolutionDimensions {
  int64_t input_batch = 0;
  int64_t input_feature = 0;
  Dimensions input_spatial;
  int64_t kernel_input_feature = 0;
  int64_t kernel_output_feature = 0;
  Dimensions kernel_spatial;
  int64_t output_batch = 0;
  int64_t output_feature = 0;
  Dimensions output_spatial;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  bool operator==(const ConvolutionDimensions&) const = default;
};
// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, `#stablehlo.conv<...>`, `<raw ...>` or `b01f_01io->b01f`.
std::optional<ConvolutionDimensions> AsConvolutionDimensions(std::string_view text);
std::optional<ConvolutionDimensions> ConvolutionDimensionsOf(const Module& module, OpId op);

// One dimension of a window: kernel spatial dimensions of a convolution, all dimensions elsewhere.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
  bool reversed = false;
  bool operator==(const WindowDimension&) const = default;
};
using Window = std::vector<WindowDimension>;
// convolution, reduce_window, select_and_scatter.
std::optional<Window> WindowOf(const Module& module, OpId op);

struct GatherDimensions {
  Dimensions offset;
  Dimensions collapsed_slice;
  Dimensions operand_batching;
  Dimensions start_indices_batching;
  Dimensions start_index_map;
  int64_t index_vector = 0;
  Dimensions slice_sizes;  // empty for dynamic_gather
};
std::optional<GatherDimensions> GatherDimensionsOf(const Module& module, OpId op);

struct ScatterDimensions {
  Dimensions update_window;
  Dimensions inserted_window;
  Dimensions input_batching;
  Dimensions scatter_indices_batching;
  Dimensions scatter_to_operand;
  int64_t index_vector = 0;
};
std::optional<ScatterDimensions> ScatterDimensionsOf(const Module& module, OpId op);

struct SliceBounds {
  Dimensions start;
  Dimensions limit;
  Dimensions strides;
};
std::optional<SliceBounds> SliceBoundsOf(const Module& module, OpId op);

// How the ids of a replica group are meant (StableHLO specification, "Collective ops").
enum class GroupMode : uint8_t { kCrossReplica, kCrossPartition, kCrossReplicaAndPartition, kFlattenedIds };

struct ReplicaGroups {
  std::vector<Dimensions> groups;  // empty: one group of all devices
  std::optional<int64_t> channel;  // channel_handle's handle, where positive
  bool use_global_device_ids = false;
  GroupMode mode = GroupMode::kCrossReplica;
};
// The groups written in `text`; `module` resolves the mesh of a mesh-axes form.
std::optional<std::vector<Dimensions>> AsReplicaGroups(const Module& module, std::string_view text);
// Nothing where the op has no readable replica_groups (collective_permute, for one).
std::optional<ReplicaGroups> ReplicaGroupsOf(const Module& module, OpId op);
GroupMode GroupModeOf(const Module& module, OpId op);

// The channel of a collective, send or recv; nothing where none is given or it is not positive.
std::optional<int64_t> ChannelOf(const Module& module, OpId op);

std::optional<std::vector<std::pair<int64_t, int64_t>>> SourceTargetPairsOf(const Module& module, OpId op);

// One integer attribute ("dimension", "all_gather_dim", ...) and one list attribute ("permutation", ...).
std::optional<int64_t> IntegerAttribute(const Module& module, OpId op, std::string_view name);
std::optional<Dimensions> IntegersAttribute(const Module& module, OpId op, std::string_view name);

}  // namespace hespas::ir
