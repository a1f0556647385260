#include "read/bytecode/vhlo_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

// What VHLO spells out and StableHLO leaves unsaid.
struct Default {
  std::string_view field;
  std::string_view text;
};
constexpr Default kDefaults[] = {
    {"sym_visibility", "\"\""},
    {"arg_attrs", "[]"},
    {"res_attrs", "[]"},
    {"compare_type", "#stablehlo<comparison_type NOTYPE>"},
    {"backend_config", "\"\""},
    {"api_version", "1 : i32"},
    {"has_side_effect", "false"},
    {"called_computations", "[]"},
    {"operand_layouts", "[]"},
    {"result_layouts", "[]"},
    {"output_operand_aliases", "[]"},
    {"result_tilings", "[]"},
    {"precision_config", "[]"},
    {"layout", "[]"},
    {"composite_attributes", "{}"},
    {"version", "0 : i32"},
    {"indices_are_sorted", "false"},
    {"unique_indices", "false"},
    {"use_global_device_ids", "false"},
    {"has_dynamic_root", "false"},
    {"is_stable", "false"},
    {"result_accuracy", "#stablehlo.result_accuracy<mode = #stablehlo<result_accuracy_mode DEFAULT>>"},
};
constexpr std::string_view kUnits[] = {"use_global_device_ids", "has_dynamic_root"};
constexpr std::string_view kSymbols[] = {"callee", "decomposition"};

bool IsDefault(const NamedText& a) {
  return std::any_of(std::begin(kDefaults), std::end(kDefaults),
                     [&](const Default& d) { return d.field == a.name && d.text == a.text; });
}

template <size_t N>
bool IsIn(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class Converter {
 public:
  Converter(std::vector<NamedText>& attributes, TextArena& arena) : attributes_(attributes), arena_(arena) {}

  void Convert(std::string_view op) {
    if (op == "dot_general") Dot();
    if (op == "convolution" || op == "dynamic_conv") Convolution();
    if (op == "gather" || op == "dynamic_gather") {
      Indexed("dimension_numbers",
              {"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
               "start_index_map"},
              GatherText);
    }
    if (op == "scatter") {
      Indexed("scatter_dimension_numbers",
              {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
               "scatter_dims_to_operand_dims"},
              ScatterText);
    }
    Channel(op == "send" || op == "recv");
    for (NamedText& a : attributes_) Respell(a);
    std::erase_if(attributes_, [](const NamedText& a) { return a.name.empty() || IsDefault(a); });
  }

 private:
  // The text of a field, which is then gone; empty where there is none.
  std::string_view Take(std::string_view field) {
    for (NamedText& a : attributes_) {
      if (a.name != field) continue;
      a.name = {};
      return a.text;
    }
    return {};
  }
  void Add(std::string_view name, const std::string& text) { attributes_.push_back({name, arena_.Copy(text)}); }

  std::vector<int64_t> Integers(std::string_view field) {
    return ir::AsIntegers(Take(field)).value_or(std::vector<int64_t>());
  }
  int64_t Integer(std::string_view field) { return ir::AsInteger(Take(field)).value_or(-1); }
  std::string List(std::string_view field) { return IntegerList(Integers(field)); }

  void Dot() {
    const std::string lhs_batch = List("lhs_batching_dimensions");
    const std::string rhs_batch = List("rhs_batching_dimensions");
    const std::string lhs = List("lhs_contracting_dimensions");
    Add("dot_dimension_numbers", DotText(lhs_batch, rhs_batch, lhs, List("rhs_contracting_dimensions")));
    DotAlgorithmParts parts;
    parts.lhs_type = Take("lhs_precision_type");
    parts.rhs_type = Take("rhs_precision_type");
    parts.accumulation_type = Take("accumulation_type");
    parts.lhs_components = fmt::format("{}", Integer("lhs_component_count"));
    parts.rhs_components = fmt::format("{}", Integer("rhs_component_count"));
    parts.operations = fmt::format("{}", Integer("num_primitive_operations"));
    parts.is_imprecise = Take("allow_imprecise_accumulation") == "true";
    if (!parts.lhs_type.empty() && parts.lhs_type != "none") Add("algorithm", DotAlgorithmText(parts));
  }

  void Convolution() {
    const auto side = [&](std::string_view first, std::string_view second, std::string_view spatial) {
      return ConvolutionSide{Integer(first), Integer(second), Integers(spatial)};
    };
    const ConvolutionNumbers numbers = {
        side("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
        side("kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"),
        side("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")};
    const std::string text = ConvolutionText(numbers);
    if (!text.empty()) Add("dimension_numbers", text);
  }

  void Indexed(std::string_view name, const std::array<std::string_view, 5>& fields,
               std::string (*write)(const FiveLists&, int64_t)) {
    FiveLists lists;
    for (size_t i = 0; i < fields.size(); ++i) lists[i] = List(fields[i]);
    Add(name, write(lists, Integer("index_vector_dim")));
  }

  void Channel(bool is_transfer) {
    const bool has_channel =
        std::any_of(attributes_.begin(), attributes_.end(), [](const auto& a) { return a.name == "channel_id"; });
    if (!has_channel) return;
    const int64_t id = Integer("channel_id");
    const std::string_view type_text = Take("channel_type");
    const int64_t type = type_text.empty() ? 0 : ir::AsInteger(type_text).value_or(0);
    if (id > 0 || is_transfer)
      Add("channel_handle", fmt::format("#stablehlo.channel_handle<handle = {}, type = {}>", id, type));
  }

  void Respell(NamedText& a) {
    if (IsIn(kUnits, a.name) && a.text == "true") a.text = "unit";
    if (IsIn(kSymbols, a.name) && a.text.starts_with('"')) a.text = arena_.Copy(SymbolText(Unquoted(a.text)));
    if (a.name == "called_computations") a.text = arena_.Copy(SymbolList(a.text));
  }

  // ["f", "g"] as [@f, @g]
  static std::string SymbolList(std::string_view strings) {
    std::string out = "[";
    size_t at = strings.find('"');
    while (at != std::string_view::npos) {
      const size_t end = strings.find('"', at + 1);
      if (end == std::string_view::npos) break;
      if (out.size() > 1) out += ", ";
      out += SymbolText(Unquoted(strings.substr(at, end - at + 1)));
      at = strings.find('"', end + 1);
    }
    out += ']';
    return out;
  }

  std::vector<NamedText>& attributes_;
  TextArena& arena_;
};

}  // namespace

void ConvertVhloAttributes(std::string_view op, std::vector<NamedText>& attributes, TextArena& arena) {
  constexpr std::string_view kDialect = "vhlo.";
  if (!op.starts_with(kDialect) || attributes.empty()) return;
  op.remove_prefix(kDialect.size());
  const size_t version = op.rfind("_v");
  Converter(attributes, arena).Convert(op.substr(0, version));
}

}  // namespace hespas::read::bytecode
