#include "sweep/file/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "base/text/json.h"
#include "base/text/unit_text.h"

namespace hespas::sweep {

struct Expression::Node {
  std::string op;  // "and", "<", "+", "name", "value", ...
  Json value;      // of "name" and "value"
  std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr Unit kUnits[] = {Unit::kNumber,  Unit::kBytes, Unit::kBytesPerSecond, Unit::kFlopsPerSecond,
                           Unit::kSeconds, Unit::kHertz, Unit::kWatts};
constexpr int kDeepest = 100;

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-'; }

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<NodePtr> Run() {
    auto node = Or();
    if (!node) return node;
    if (Skip() < text_.size()) return Bad("is not understood");
    return node;
  }

 private:
  Error Bad(std::string_view what) const {
    const std::string rest = at_ < text_.size() ? fmt::format("`{}`", text_.substr(at_, 20)) : "the end";
    return MakeError(kBadExpression, fmt::format("`{}`: {} {}", text_, rest, what));
  }

  size_t Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_;
  }

  bool Take(std::string_view token) {
    Skip();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    const size_t end = at_ + token.size();
    const bool word = std::isalpha(static_cast<unsigned char>(token[0])) != 0;
    if (word && end < text_.size() && IsWord(text_[end])) return false;
    at_ = end;
    return true;
  }

  // Parts of one kind from left to right: a < b < c has no meaning, a + b - c has.
  template <class Part>
  Result<NodePtr> Chain(std::initializer_list<std::string_view> operators, Part part) {
    auto left = part();
    while (left) {
      std::string found;
      for (const std::string_view op : operators) {
        if (found.empty() && Take(op)) found = op;
      }
      if (found.empty()) return left;
      auto right = part();
      if (!right) return right;
      left = NodePtr(std::make_shared<Node>(Node{found, {}, {*left, *right}}));
    }
    return left;
  }

  Result<NodePtr> Or() {
    if (++depth_ > kDeepest) return Bad("nests too deeply");
    auto node = Chain({"or", "||"}, [&] { return And(); });
    --depth_;
    return node;
  }
  Result<NodePtr> And() {
    return Chain({"and", "&&"}, [&] { return Not(); });
  }

  Result<NodePtr> Not() {
    if (!Take("not")) return Comparison();
    if (++depth_ > kDeepest) return Bad("nests too deeply");
    auto inner = Not();
    --depth_;
    if (!inner) return inner;
    return NodePtr(std::make_shared<Node>(Node{"not", {}, {*inner}}));
  }

  Result<NodePtr> Comparison() {
    auto left = Sum();
    if (!left) return left;
    for (const std::string_view op : {"<=", ">=", "==", "!=", "<", ">", "="}) {
      if (!Take(op)) continue;
      auto right = Sum();
      if (!right) return right;
      return NodePtr(std::make_shared<Node>(Node{std::string(op == "=" ? "==" : op), {}, {*left, *right}}));
    }
    return left;
  }

  Result<NodePtr> Sum() {
    return Chain({"+", "-"}, [&] { return Product(); });
  }
  Result<NodePtr> Product() {
    return Chain({"*", "/"}, [&] { return Atom(); });
  }

  Result<NodePtr> Atom() {
    if (Take("(")) {
      auto inner = Or();
      if (inner && !Take(")")) return Bad("stands where a `)` is missing");
      return inner;
    }
    if (Skip() >= text_.size()) return Bad("comes where a name or a quantity is missing");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return Quoted(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-') return Quantity();
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '_') return Bad("is neither name nor quantity");
    const size_t start = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    return NodePtr(std::make_shared<Node>(Node{"name", text_.substr(start, at_ - start), {}}));
  }

  Result<NodePtr> Quoted(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) return Bad("has no closing quote");
    std::string inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return NodePtr(std::make_shared<Node>(Node{"value", std::move(inside), {}}));
  }

  // A number and, behind it, what may be its unit.
  Result<NodePtr> Quantity() {
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return Bad("is no number");
    const size_t start = at_;
    at_ = static_cast<size_t>(end - text_.data());
    const size_t after = at_;
    Skip();
    size_t unit = at_;
    while (unit < text_.size() && std::isalpha(static_cast<unsigned char>(text_[unit])) != 0) ++unit;
    const std::string word = text_.substr(at_, unit - at_);
    if (word.empty() || word == "and" || word == "or") {
      at_ = after;
      return NodePtr(std::make_shared<Node>(Node{"value", number, {}}));
    }
    if (text_.compare(unit, 2, "/s") == 0) unit += 2;
    const Json value = text_.substr(start, unit - start);
    const auto amount = NumberOf(value);
    if (!amount) return Bad("is no unit");
    at_ = unit;
    return NodePtr(std::make_shared<Node>(Node{"value", *amount, {}}));
  }

  const std::string& text_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool IsTrue(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  return value.is_number() ? value.get<double>() != 0 : !value.is_null();
}

Json Compare(const std::string& op, const Json& left, const Json& right) {
  if (left.is_null() || right.is_null()) return false;
  const auto a = NumberOf(left);
  const auto b = NumberOf(right);
  const auto order = [&](const auto& x, const auto& y) -> bool {
    if (op == "<") return x < y;
    if (op == "<=") return x <= y;
    if (op == ">") return x > y;
    if (op == ">=") return x >= y;
    return op == "==" ? x == y : x != y;
  };
  if (a && b) return order(*a, *b);
  const auto text = [](const Json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); };
  return order(text(left), text(right));
}

Json Evaluate(const Node& node, const Expression::Lookup& lookup) {
  if (node.op == "name") return lookup(node.value.get_ref<const std::string&>());
  if (node.op == "value") return node.value;
  const Json left = Evaluate(*node.parts[0], lookup);
  if (node.op == "not") return !IsTrue(left);
  if (node.op == "and" || node.op == "&&") return IsTrue(left) && IsTrue(Evaluate(*node.parts[1], lookup));
  if (node.op == "or" || node.op == "||") return IsTrue(left) || IsTrue(Evaluate(*node.parts[1], lookup));
  const Json right = Evaluate(*node.parts[1], lookup);
  constexpr std::string_view kArithmetic = "+-*/";
  if (node.op.size() != 1 || kArithmetic.find(node.op[0]) == std::string_view::npos)
    return Compare(node.op, left, right);
  const auto a = NumberOf(left);
  const auto b = NumberOf(right);
  if (!a || !b) return nullptr;
  if (node.op == "+") return *a + *b;
  if (node.op == "-") return *a - *b;
  return node.op == "*" ? *a * *b : *a / *b;
}

void Collect(const Node& node, std::vector<std::string>& names) {
  if (node.op == "name") names.push_back(node.value.get<std::string>());
  for (const NodePtr& part : node.parts) Collect(*part, names);
}

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;
  std::string from;

  bool empty() const { return low > high || (low == high && (open_low || open_high)); }
};

void Narrow(const std::string& op, double value, Bounds& bounds) {
  if ((op == ">" || op == ">=" || op == "==") && (value > bounds.low || (value == bounds.low && op == ">"))) {
    bounds.low = value;
    bounds.open_low = op == ">";
  }
  if ((op == "<" || op == "<=" || op == "==") && (value < bounds.high || (value == bounds.high && op == "<"))) {
    bounds.high = value;
    bounds.open_high = op == "<";
  }
}

std::string Mirrored(const std::string& op) {
  if (op == "<" || op == "<=") return ">" + op.substr(1);
  if (op == ">" || op == ">=") return "<" + op.substr(1);
  return op;
}

void NarrowAll(const Node& node, const std::string& text, std::map<std::string, Bounds>& bounds) {
  if (node.op == "and" || node.op == "&&") {
    for (const NodePtr& part : node.parts) NarrowAll(*part, text, bounds);
    return;
  }
  if (node.parts.size() != 2) return;
  const bool forward = node.parts[0]->op == "name" && node.parts[1]->op == "value";
  const bool backward = node.parts[1]->op == "name" && node.parts[0]->op == "value";
  if (!forward && !backward) return;
  const auto value = NumberOf(node.parts[forward ? 1 : 0]->value);
  if (!value) return;
  Bounds& of = bounds[node.parts[forward ? 0 : 1]->value.get<std::string>()];
  Narrow(forward ? node.op : Mirrored(node.op), *value, of);
  if (of.from.find(text) == std::string::npos) of.from += (of.from.empty() ? "`" : ", `") + text + "`";
}

}  // namespace

std::optional<double> NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return std::nullopt;
  for (const Unit unit : kUnits) {
    const auto amount = ParseQuantity(value.get_ref<const std::string&>(), unit);
    if (amount) return *amount;
  }
  return std::nullopt;
}

Result<Expression> Expression::Parse(const std::string& text) {
  auto root = Parser(text).Run();
  if (!root) return root.error();
  Expression expression;
  expression.text_ = text;
  expression.root_ = *std::move(root);
  return expression;
}

bool Expression::Holds(const Lookup& lookup) const { return IsTrue(Evaluate(*root_, lookup)); }

std::vector<std::string> Expression::Names() const {
  std::vector<std::string> names;
  Collect(*root_, names);
  return names;
}

Status CheckConsistent(const std::vector<Expression>& all) {
  std::map<std::string, Bounds> bounds;
  for (const Expression& expression : all) NarrowAll(expression.root(), expression.text(), bounds);
  for (const auto& [name, of] : bounds) {
    if (of.empty())
      return MakeError(kContradiction, fmt::format("{} leave no value for `{}`", of.from, name), {},
                       "loosen one of them");
  }
  return {};
}

}  // namespace hespas::sweep
