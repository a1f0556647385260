#include "read/hlo/text/opcode.h"

#include <unordered_map>
#include <vector>

#include "base/text/suggest.h"

namespace hespas::read::hlo {
namespace {

// clang-format off
constexpr Opcode kOpcodes[] = {
    {"parameter", "", Lowering::kParameter},
    {"constant", "stablehlo.constant", Lowering::kConstant},
    {"tuple", "", Lowering::kTuple},
    {"get-tuple-element", "stablehlo.get_tuple_element", Lowering::kGetTupleElement},
    {"fusion", "mhlo.fusion", Lowering::kFusion},
    {"call", "func.call", Lowering::kCall},
    {"while", "stablehlo.while", Lowering::kWhile},
    {"conditional", "stablehlo.case", Lowering::kConditional},
    {"async-start", "mhlo.async_start", Lowering::kAsyncStart},
    {"async-update", "mhlo.async_update", Lowering::kAsyncUpdate},
    {"async-done", "mhlo.async_done", Lowering::kAsyncDone},
    // one op for one op
    {"abs", "stablehlo.abs"}, {"acos", "mhlo.acos"}, {"acosh", "mhlo.acosh"}, {"add", "stablehlo.add"},
    {"add-dependency", "mhlo.add_dependency"}, {"after-all", "stablehlo.after_all"},
    {"all-gather", "stablehlo.all_gather"}, {"all-reduce", "stablehlo.all_reduce"},
    {"all-to-all", "stablehlo.all_to_all"}, {"and", "stablehlo.and"}, {"asin", "mhlo.asin"}, {"asinh", "mhlo.asinh"},
    {"atan2", "stablehlo.atan2"}, {"atanh", "mhlo.atanh"}, {"batch-norm-grad", "stablehlo.batch_norm_grad"},
    {"batch-norm-inference", "stablehlo.batch_norm_inference"},
    {"batch-norm-training", "stablehlo.batch_norm_training"}, {"bitcast", "mhlo.bitcast"},
    {"bitcast-convert", "stablehlo.bitcast_convert"}, {"broadcast", "stablehlo.broadcast_in_dim"},
    {"cbrt", "stablehlo.cbrt"}, {"ceil", "stablehlo.ceil"}, {"cholesky", "stablehlo.cholesky"},
    {"clamp", "stablehlo.clamp"}, {"collective-broadcast", "stablehlo.collective_broadcast"},
    {"collective-permute", "stablehlo.collective_permute"}, {"compare", "stablehlo.compare"},
    {"complex", "stablehlo.complex"}, {"concatenate", "stablehlo.concatenate"}, {"convert", "stablehlo.convert"},
    {"convolution", "stablehlo.convolution"}, {"copy", "mhlo.copy"}, {"cosh", "mhlo.cosh"},
    {"cosine", "stablehlo.cosine"}, {"count-leading-zeros", "stablehlo.count_leading_zeros"},
    {"create-token", "stablehlo.create_token"}, {"custom-call", "stablehlo.custom_call"},
    {"divide", "stablehlo.divide"}, {"domain", "mhlo.domain"}, {"dot", "stablehlo.dot_general"},
    {"dynamic-reshape", "stablehlo.dynamic_reshape"}, {"dynamic-slice", "stablehlo.dynamic_slice"},
    {"dynamic-update-slice", "stablehlo.dynamic_update_slice"}, {"erf", "mhlo.erf"},
    {"exponential", "stablehlo.exponential"}, {"exponential-minus-one", "stablehlo.exponential_minus_one"},
    {"fft", "stablehlo.fft"}, {"floor", "stablehlo.floor"}, {"gather", "stablehlo.gather"},
    {"get-dimension-size", "stablehlo.get_dimension_size"}, {"imag", "stablehlo.imag"},
    {"infeed", "stablehlo.infeed"}, {"iota", "stablehlo.iota"}, {"is-finite", "stablehlo.is_finite"},
    {"log", "stablehlo.log"}, {"log-plus-one", "stablehlo.log_plus_one"}, {"logistic", "stablehlo.logistic"},
    {"map", "stablehlo.map"}, {"maximum", "stablehlo.maximum"}, {"minimum", "stablehlo.minimum"},
    {"multiply", "stablehlo.multiply"}, {"negate", "stablehlo.negate"}, {"not", "stablehlo.not"},
    {"opt-barrier", "stablehlo.optimization_barrier"}, {"or", "stablehlo.or"}, {"outfeed", "stablehlo.outfeed"},
    {"pad", "stablehlo.pad"}, {"partition-id", "stablehlo.partition_id"}, {"popcnt", "stablehlo.popcnt"},
    {"power", "stablehlo.power"}, {"ragged-all-to-all", "mhlo.ragged_all_to_all"}, {"ragged-dot", "mhlo.ragged_dot"},
    {"real", "stablehlo.real"}, {"recv", "stablehlo.recv"}, {"reduce", "stablehlo.reduce"},
    {"reduce-precision", "stablehlo.reduce_precision"}, {"reduce-scatter", "stablehlo.reduce_scatter"},
    {"reduce-window", "stablehlo.reduce_window"}, {"remainder", "stablehlo.remainder"},
    {"replica-id", "stablehlo.replica_id"}, {"reshape", "stablehlo.reshape"}, {"reverse", "stablehlo.reverse"},
    {"rng", "stablehlo.rng"}, {"rng-bit-generator", "stablehlo.rng_bit_generator"},
    {"rng-get-and-update-state", "mhlo.xla.rng_get_and_update_state"},
    {"round-nearest-afz", "stablehlo.round_nearest_afz"}, {"round-nearest-even", "stablehlo.round_nearest_even"},
    {"rsqrt", "stablehlo.rsqrt"}, {"scaled-dot", "mhlo.scaled_dot"}, {"scan", "mhlo.scan"},
    {"scatter", "stablehlo.scatter"}, {"select", "stablehlo.select"},
    {"select-and-scatter", "stablehlo.select_and_scatter"}, {"send", "stablehlo.send"},
    {"set-dimension-size", "stablehlo.set_dimension_size"}, {"shift-left", "stablehlo.shift_left"},
    {"shift-right-arithmetic", "stablehlo.shift_right_arithmetic"},
    {"shift-right-logical", "stablehlo.shift_right_logical"}, {"sign", "stablehlo.sign"},
    {"sine", "stablehlo.sine"}, {"sinh", "mhlo.sinh"}, {"slice", "stablehlo.slice"}, {"sort", "stablehlo.sort"},
    {"sqrt", "stablehlo.sqrt"}, {"stochastic-convert", "mhlo.stochastic_convert"},
    {"subtract", "stablehlo.subtract"}, {"tan", "stablehlo.tan"}, {"tanh", "stablehlo.tanh"}, {"topk", "mhlo.topk"},
    {"transpose", "stablehlo.transpose"}, {"triangular-solve", "stablehlo.triangular_solve"},
    {"xor", "stablehlo.xor"},
};
// clang-format on

struct AsyncSuffix {
  std::string_view suffix;
  Lowering lowering;
};
constexpr AsyncSuffix kAsyncSuffixes[] = {
    {"-start", Lowering::kSugaredStart}, {"-update", Lowering::kAsyncUpdate}, {"-done", Lowering::kAsyncDone}};

const std::unordered_map<std::string_view, Opcode>& Index() {
  static const auto* const kIndex = [] {
    auto* index = new std::unordered_map<std::string_view, Opcode>;
    for (const Opcode& row : kOpcodes) index->emplace(row.hlo, row);
    index->emplace("cross-replica-sum", index->at("all-reduce"));  // its name until 2019
    // Host and cross-device transfers are asynchronous by their plain names: only their done says so.
    for (const std::string_view name : {"send", "recv"}) index->at(name).lowering = Lowering::kSugaredStart;
    return index;
  }();
  return *kIndex;
}

}  // namespace

Opcode FindOpcode(std::string_view opcode) {
  const auto& index = Index();
  const auto found = index.find(opcode);
  if (found != index.end()) return found->second;
  for (const AsyncSuffix& async : kAsyncSuffixes) {
    if (!opcode.ends_with(async.suffix)) continue;
    const auto whole = index.find(opcode.substr(0, opcode.size() - async.suffix.size()));
    if (whole == index.end())
      return {.hlo = opcode.substr(0, opcode.size() - async.suffix.size()), .lowering = async.lowering};
    return {whole->second.hlo, whole->second.name, async.lowering};
  }
  return {.hlo = opcode};
}

std::string NearestOpcode(std::string_view opcode) {
  std::vector<std::string> names;
  for (const Opcode& row : kOpcodes) names.emplace_back(row.hlo);
  return Nearest(opcode, names).value_or("");
}

}  // namespace hespas::read::hlo
