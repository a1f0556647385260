#include <unordered_map>

#include "read/hlo/attributes/attributes.h"

namespace hespas::read::hlo {
namespace {

// clang-format off
constexpr AttributeRow kRows[] = {
    // any opcode
    {"", "metadata", "metadata", Form::kAsWritten},
    {"", "backend_config", "backend_config", Form::kBackendConfig},
    {"", "sharding", "mhlo.sharding", Form::kText},
    {"", "frontend_attributes", "frontend_attributes", Form::kText},
    {"", "operand_precision", "precision_config", Form::kPrecision},
    {"", "channel_id", "channel_handle", Form::kChannel},
    {"", "replica_groups", "replica_groups", Form::kGroups},
    {"", "use_global_device_ids", "use_global_device_ids", Form::kUnit},
    {"", "source_target_pairs", "source_target_pairs", Form::kPairs},
    {"", "to_apply", "", Form::kPart}, {"", "calls", "", Form::kPart}, {"", "body", "", Form::kPart},
    {"", "condition", "", Form::kPart}, {"", "select", "", Form::kPart}, {"", "scatter", "", Form::kPart},
    {"", "true_computation", "", Form::kPart}, {"", "false_computation", "", Form::kPart},
    {"", "branch_computations", "", Form::kPart}, {"", "called_computations", "", Form::kPart},
    {"", "async_execution_thread", "execution_thread", Form::kText},
    // shapes and indices
    {"broadcast", "dimensions", "broadcast_dimensions", Form::kIntegerList},
    {"transpose", "dimensions", "permutation", Form::kIntegerList},
    {"reverse", "dimensions", "dimensions", Form::kIntegerList},
    {"reduce", "dimensions", "dimensions", Form::kIntegerList},
    {"map", "dimensions", "dimensions", Form::kIntegerList},
    {"concatenate", "dimensions", "dimension", Form::kFirstInteger},
    {"sort", "dimensions", "dimension", Form::kFirstInteger},
    {"sort", "is_stable", "is_stable", Form::kBoolean},
    {"iota", "iota_dimension", "iota_dimension", Form::kInteger},
    {"get-dimension-size", "dimensions", "dimension", Form::kFirstInteger},
    {"set-dimension-size", "dimensions", "dimension", Form::kFirstInteger},
    {"dynamic-slice", "dynamic_slice_sizes", "slice_sizes", Form::kIntegerList},
    {"get-tuple-element", "index", "index", Form::kInteger32},
    {"slice", "slice", "", Form::kPart}, {"pad", "padding", "", Form::kPart},
    // arithmetic
    {"compare", "direction", "comparison_direction", Form::kStableEnum, "comparison_direction"},
    {"compare", "type", "compare_type", Form::kStableEnum, "comparison_type"},
    {"fft", "fft_type", "fft_type", Form::kStableEnum, "fft_type"},
    {"fft", "fft_length", "fft_length", Form::kIntegerList},
    {"cholesky", "lower", "lower", Form::kBoolean},
    {"triangular-solve", "left_side", "left_side", Form::kBoolean},
    {"triangular-solve", "lower", "lower", Form::kBoolean},
    {"triangular-solve", "unit_diagonal", "unit_diagonal", Form::kBoolean},
    {"triangular-solve", "transpose_a", "transpose_a", Form::kStableEnum, "transpose"},
    {"topk", "k", "k", Form::kInteger}, {"topk", "largest", "largest", Form::kBoolean},
    {"rng", "distribution", "rng_distribution", Form::kRngEnum, "rng_distribution"},
    {"rng-bit-generator", "algorithm", "rng_algorithm", Form::kRngEnum, "rng_algorithm"},
    {"rng-get-and-update-state", "delta", "delta", Form::kInteger},
    {"reduce-precision", "exponent_bits", "exponent_bits", Form::kInteger32},
    {"reduce-precision", "mantissa_bits", "mantissa_bits", Form::kInteger32},
    {"batch-norm-training", "epsilon", "epsilon", Form::kFloat32},
    {"batch-norm-training", "feature_index", "feature_index", Form::kInteger},
    {"batch-norm-inference", "epsilon", "epsilon", Form::kFloat32},
    {"batch-norm-inference", "feature_index", "feature_index", Form::kInteger},
    {"batch-norm-grad", "epsilon", "epsilon", Form::kFloat32},
    {"batch-norm-grad", "feature_index", "feature_index", Form::kInteger},
    // contractions
    {"dot", "lhs_contracting_dims", "", Form::kPart}, {"dot", "rhs_contracting_dims", "", Form::kPart},
    {"dot", "lhs_batch_dims", "", Form::kPart}, {"dot", "rhs_batch_dims", "", Form::kPart},
    {"dot", "algorithm", "algorithm", Form::kText},
    {"ragged-dot", "lhs_contracting_dims", "lhs_contracting_dims", Form::kIntegerList},
    {"ragged-dot", "rhs_contracting_dims", "rhs_contracting_dims", Form::kIntegerList},
    {"ragged-dot", "lhs_batch_dims", "lhs_batch_dims", Form::kIntegerList},
    {"ragged-dot", "rhs_batch_dims", "rhs_batch_dims", Form::kIntegerList},
    {"ragged-dot", "lhs_ragged_dims", "lhs_ragged_dims", Form::kIntegerList},
    {"ragged-dot", "rhs_group_dims", "rhs_group_dims", Form::kIntegerList},
    {"convolution", "window", "", Form::kPart}, {"convolution", "dim_labels", "", Form::kPart},
    {"convolution", "feature_group_count", "", Form::kPart}, {"convolution", "batch_group_count", "", Form::kPart},
    {"reduce-window", "window", "", Form::kPart}, {"select-and-scatter", "window", "", Form::kPart},
    // gather, scatter
    {"gather", "offset_dims", "", Form::kPart}, {"gather", "collapsed_slice_dims", "", Form::kPart},
    {"gather", "start_index_map", "", Form::kPart}, {"gather", "index_vector_dim", "", Form::kPart},
    {"gather", "operand_batching_dims", "", Form::kPart},
    {"gather", "start_indices_batching_dims", "", Form::kPart},
    {"gather", "slice_sizes", "slice_sizes", Form::kIntegerList},
    {"gather", "indices_are_sorted", "indices_are_sorted", Form::kBoolean},
    {"scatter", "update_window_dims", "", Form::kPart}, {"scatter", "inserted_window_dims", "", Form::kPart},
    {"scatter", "scatter_dims_to_operand_dims", "", Form::kPart}, {"scatter", "index_vector_dim", "", Form::kPart},
    {"scatter", "input_batching_dims", "", Form::kPart},
    {"scatter", "scatter_indices_batching_dims", "", Form::kPart},
    {"scatter", "indices_are_sorted", "indices_are_sorted", Form::kBoolean},
    {"scatter", "unique_indices", "unique_indices", Form::kBoolean},
    // calls
    {"fusion", "kind", "fusion_kind", Form::kMhloEnum, "fusion_kind"},
    {"custom-call", "custom_call_target", "call_target_name", Form::kText},
    {"custom-call", "custom_call_has_side_effect", "has_side_effect", Form::kBoolean},
    {"custom-call", "api_version", "api_version", Form::kApiVersion},
    {"custom-call", "window", "", Form::kPart}, {"custom-call", "dim_labels", "", Form::kPart},
    {"custom-call", "feature_group_count", "", Form::kPart}, {"custom-call", "batch_group_count", "", Form::kPart},
    // collectives and transfers
    {"all-gather", "dimensions", "all_gather_dim", Form::kFirstInteger},
    {"reduce-scatter", "dimensions", "scatter_dimension", Form::kFirstInteger},
    {"all-to-all", "dimensions", "", Form::kPart},
    {"ragged-all-to-all", "dimensions", "", Form::kPart},
    {"send", "is_host_transfer", "is_host_transfer", Form::kBoolean},
    {"recv", "is_host_transfer", "is_host_transfer", Form::kBoolean},
};
// clang-format on

using Index = std::unordered_map<std::string_view, std::vector<const AttributeRow*>>;

const Index& RowsByKey() {
  static const auto* const kIndex = [] {
    auto* index = new Index;
    for (const AttributeRow& row : kRows) (*index)[row.key].push_back(&row);
    return index;
  }();
  return *kIndex;
}

}  // namespace

const AttributeRow* FindAttributeRow(std::string_view opcode, std::string_view key) {
  const auto found = RowsByKey().find(key);
  if (found == RowsByKey().end()) return nullptr;
  for (const AttributeRow* row : found->second) {
    if (row->opcode.empty() || row->opcode == opcode) return row;
  }
  return nullptr;
}

}  // namespace hespas::read::hlo
