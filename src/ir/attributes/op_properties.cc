#include "ir/attributes/op_properties.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace hespas::ir {
namespace {

struct PropertiesRow {
  std::string_view op;  // without dialect for what stablehlo and mhlo share
  std::string_view names;
};

constexpr PropertiesRow kHlo[] = {
    {"all_gather", "all_gather_dim channel_handle replica_groups use_global_device_ids"},
    {"all_reduce", "channel_handle replica_groups use_global_device_ids"},
    {"all_to_all", "channel_handle concat_dimension replica_groups split_count split_dimension"},
    {"async_start", "called_computation execution_thread"},
    {"batch_norm_grad", "epsilon feature_index"},
    {"batch_norm_inference", "epsilon feature_index"},
    {"batch_norm_training", "epsilon feature_index"},
    {"broadcast", "broadcast_sizes"},
    {"broadcast_in_dim", "broadcast_dimensions"},
    {"cbrt", "result_accuracy"},
    {"cholesky", "lower"},
    {"collective_broadcast", "channel_handle has_dynamic_root replica_groups"},
    {"collective_permute", "channel_handle source_target_pairs"},
    {"collective_reduce", "channel_handle has_dynamic_root replica_groups use_global_device_ids"},
    {"compare", "compare_type comparison_direction"},
    {"composite", "composite_attributes decomposition name version"},
    {"concatenate", "dimension"},
    {"constant", "value"},
    {"convolution",
     "batch_group_count dimension_numbers feature_group_count lhs_dilation padding precision_config rhs_dilation "
     "window_reversal window_strides"},
    {"copy", "cross_program_prefetch_index"},
    {"cosine", "result_accuracy"},
    {"cross-replica-sum", "replica_groups"},
    {"custom_call",
     "api_version backend_config call_target_name called_computations custom_call_schedule has_side_effect "
     "operand_layouts output_operand_aliases result_layouts result_tilings"},
    {"domain", "entry_metadata exit_metadata kind"},
    {"dot", "precision_config"},
    {"dot_general", "algorithm dot_dimension_numbers precision_config"},
    {"dynamic_broadcast_in_dim", "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_conv",
     "batch_group_count dimension_numbers feature_group_count lhs_dilation precision_config rhs_dilation "
     "window_reversal window_strides"},
    {"dynamic_gather", "dimension_numbers indices_are_sorted"},
    {"dynamic_iota", "iota_dimension"},
    {"dynamic_slice", "slice_sizes"},
    {"einsum", "einsum_config"},
    {"exponential", "result_accuracy"},
    {"exponential_minus_one", "result_accuracy"},
    {"fft", "fft_length fft_type"},
    {"fusion", "fusion_kind output_operand_aliases"},
    {"gather", "dimension_numbers indices_are_sorted slice_sizes"},
    {"get_dimension_size", "dimension"},
    {"get_tuple_element", "index"},
    {"infeed", "infeed_config layout"},
    {"iota", "iota_dimension"},
    {"log", "result_accuracy"},
    {"log_plus_one", "result_accuracy"},
    {"logistic", "result_accuracy"},
    {"map", "dimensions"},
    {"outfeed", "outfeed_config"},
    {"pad", "edge_padding_high edge_padding_low interior_padding"},
    {"ragged_dot", "precision_config ragged_dot_dimension_numbers"},
    {"recv", "channel_handle is_host_transfer source_target_pairs"},
    {"reduce", "dimensions"},
    {"reduce_precision", "exponent_bits mantissa_bits"},
    {"reduce_scatter", "channel_handle replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_window", "base_dilations padding window_dilations window_dimensions window_strides"},
    {"reverse", "dimensions"},
    {"rng", "rng_distribution"},
    {"rng_bit_generator", "rng_algorithm"},
    {"rsqrt", "result_accuracy"},
    {"scatter", "indices_are_sorted scatter_dimension_numbers unique_indices"},
    {"select_and_scatter", "padding window_dimensions window_strides"},
    {"send", "channel_handle is_host_transfer source_target_pairs"},
    {"set_dimension_size", "dimension"},
    {"sine", "result_accuracy"},
    {"slice", "limit_indices start_indices strides"},
    {"sort", "dimension is_stable"},
    {"sqrt", "result_accuracy"},
    {"tan", "result_accuracy"},
    {"tanh", "result_accuracy"},
    {"topk", "k largest"},
    {"torch_index_select", "batch_dims dim"},
    {"trace", "tag"},
    {"transpose", "permutation"},
    {"triangular_solve", "left_side lower transpose_a unit_diagonal"},
    {"unary_einsum", "einsum_config"},
    {"xla.rng_get_and_update_state", "delta"},
};

constexpr PropertiesRow kOthers[] = {
    {"chlo.broadcast_compare", "broadcast_dimensions compare_type comparison_direction"},
    {"chlo.constant", "value"},
    {"chlo.constant_like", "value"},
    {"chlo.ragged_dot", "precision_config ragged_dot_dimension_numbers"},
    {"chlo.scan", "dimension is_associative is_reverse operandSegmentSizes resultSegmentSizes scan_dim_size"},
    {"chlo.top_k", "k is_stable"},
    {"sdy.all_gather", "gathering_axes out_sharding"},
    {"sdy.all_reduce", "out_sharding reduction_axes"},
    {"sdy.all_slice", "out_sharding slicing_axes"},
    {"sdy.all_to_all", "out_sharding params"},
    {"sdy.collective_permute", "out_sharding"},
    {"sdy.constant", "value"},
    {"sdy.data_flow_edge", "sharding"},
    {"sdy.manual_computation", "in_shardings manual_axes out_shardings"},
    {"sdy.mesh", "mesh sym_name"},
    {"sdy.named_computation", "in_shardings name out_shardings"},
    {"sdy.propagation_barrier", "allowed_direction"},
    {"sdy.reduce_scatter", "out_sharding reduce_scatter_axes"},
    {"sdy.replicated_to_unreduced", "axes out_sharding"},
    {"sdy.reshard", "sharding"},
    {"sdy.sharded_to_unreduced", "axes out_sharding"},
    {"sdy.sharding_constraint", "sharding"},
    {"sdy.sharding_group", "group_id"},
    {"stablehlo.mesh", "mesh sym_name"},
    {"func.call", "arg_attrs callee no_inline res_attrs"},
    {"func.call_indirect", "arg_attrs res_attrs"},
    {"func.constant", "value"},
    {"func.func", "arg_attrs function_type no_inline res_attrs sym_name sym_visibility"},
    {"builtin.module", "sym_name sym_visibility"},
    {"arith.cmpf", "fastmath predicate"},
    {"arith.cmpi", "predicate"},
    {"arith.constant", "value"},
    {"cf.assert", "msg"},
    {"cf.cond_br", "branch_weights operandSegmentSizes"},
    {"scf.for", "unsignedCmp"},
    {"shape.const_shape", "shape"},
};

constexpr std::string_view kArithFast[] = {"addf",     "subf",     "mulf",    "divf",    "remf", "negf",
                                           "maximumf", "minimumf", "maxnumf", "minnumf", "extf", "truncf"};
constexpr std::string_view kArithOverflow[] = {"addi", "subi", "muli", "shli", "trunci"};

constexpr std::string_view kLists[] = {"broadcast_dimensions",
                                       "broadcast_sizes",
                                       "permutation",
                                       "dimensions",
                                       "start_indices",
                                       "limit_indices",
                                       "strides",
                                       "slice_sizes",
                                       "fft_length",
                                       "edge_padding_low",
                                       "edge_padding_high",
                                       "interior_padding",
                                       "window_dimensions",
                                       "window_strides",
                                       "base_dilations",
                                       "window_dilations",
                                       "lhs_dilation",
                                       "rhs_dilation",
                                       "known_expanding_dimensions",
                                       "known_nonexpanding_dimensions"};
constexpr std::string_view kI32[] = {"exponent_bits", "mantissa_bits", "index"};

template <class Range>
bool Has(const Range& range, std::string_view name) {
  return std::find(std::begin(range), std::end(range), name) != std::end(range);
}

bool HasWord(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

std::string_view PropertiesOf(std::string_view op) {
  static const auto* const kIndex = [] {
    auto* index = new std::unordered_map<std::string, std::string_view>;
    for (const PropertiesRow& row : kHlo) {
      index->emplace("stablehlo." + std::string(row.op), row.names);
      index->emplace("mhlo." + std::string(row.op), row.names);
    }
    for (const PropertiesRow& row : kOthers) index->emplace(row.op, row.names);
    for (const std::string_view op_name : kArithFast)
      index->emplace("arith." + std::string(op_name), "fastmath roundingmode");
    for (const std::string_view op_name : kArithOverflow)
      index->emplace("arith." + std::string(op_name), "overflowFlags");
    return index;
  }();
  const auto found = kIndex->find(std::string(op));
  if (found != kIndex->end()) return found->second;
  return op.starts_with("chlo.broadcast_") ? "broadcast_dimensions" : std::string_view();
}

}  // namespace

bool IsProperty(std::string_view op_name, std::string_view attribute_name) {
  return HasWord(PropertiesOf(op_name), attribute_name);
}

PlainMeaning MeaningOf(std::string_view attribute_name) {
  if (Has(kLists, attribute_name)) return PlainMeaning::kI64Array;
  return Has(kI32, attribute_name) ? PlainMeaning::kI32 : PlainMeaning::kAsWritten;
}

std::optional<DefaultProperty> DefaultPropertyOf(std::string_view op_name) {
  if (!op_name.starts_with("arith.")) return std::nullopt;
  op_name.remove_prefix(6);
  if (Has(kArithFast, op_name)) return DefaultProperty{"fastmath", "#arith.fastmath<none>"};
  if (Has(kArithOverflow, op_name)) return DefaultProperty{"overflowFlags", "#arith.overflow<none>"};
  return std::nullopt;
}

}  // namespace hespas::ir
