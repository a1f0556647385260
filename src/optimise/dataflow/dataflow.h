// Dataflow: the working form of one executed region (main, a loop's body, a fusion) while it is optimised.
//
// - Nodes make values and read values; order() is a topological order, restored by Normalise().
// - A pass adds nodes, replaces values by others and marks nodes dead; it never edits the module it came from.
// - Names, types and attribute texts live in the source module, which outlives every Dataflow made from it.
// - Executed regions (while, case, fusion) are `bodies`; reducers and the like stay in the source op `origin`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "ir/module.h"
#include "optimise/dataflow/rare_list.h"
#include "optimise/dataflow/short_list.h"

namespace hespas::optimise {

HESPAS_ID(NodeId);
HESPAS_ID(ValueId);
using ValueList = ShortList<ValueId>;

class Dataflow;

// What most passes read stands first, in one cache line.
struct Node {
  ir::OpKind kind = ir::OpKind::kUnknown;
  bool dead = false;
  ir::NameId name;
  uint32_t capture_count = 0;
  ValueId first_result;
  uint32_t result_count = 0;
  ir::OpId origin;     // source location, and regions unless there are bodies
  ir::NameId scope;    // the framework's name (ir/facts/framework_name.h); invalid where it has none
  ValueList operands;  // own operands, then values its regions capture
  RareList<std::unique_ptr<Dataflow>> bodies;
  RareList<ir::ValueId> captured;  // what the captured operands are called inside origin's regions
  std::vector<ir::Attribute> attributes;

  size_t own_operand_count() const { return operands.size() - capture_count; }
};

// Consumers of every value, in program order.
class UserTable {
 public:
  std::span<const NodeId> operator[](size_t value) const {
    return {users_.data() + begin_[value], begin_[value + 1] - begin_[value]};
  }

 private:
  friend class Dataflow;
  std::vector<uint32_t> begin_;  // by value, and the end
  std::vector<NodeId> users_;
};

struct NodeInit {
  std::string_view name;
  ValueList operands;
  ShortList<ir::TypeId> results;
  std::vector<ir::Attribute> attributes = {};
  ir::OpId origin = {};
};

class Dataflow {
 public:
  explicit Dataflow(ir::Module& source) : source_(&source) {}

  ir::Module& source() const { return *source_; }
  const std::vector<NodeId>& order() const { return order_; }
  size_t node_count() const { return nodes_.size(); }
  size_t value_count() const { return values_.size(); }
  Node& node(NodeId id) { return nodes_[id.index()]; }
  const Node& node(NodeId id) const { return nodes_[id.index()]; }
  ir::TypeId type_id(ValueId id) const { return values_[id.index()].type; }
  const ir::Type& type(ValueId id) const { return source_->types()[type_id(id)]; }
  int64_t ByteSize(ValueId id) const { return ir::ByteSize(source_->types(), type_id(id)); }
  // The node that makes a value; invalid for parameters.
  NodeId producer(ValueId id) const { return values_[id.index()].producer; }
  uint32_t result_index(ValueId id) const { return id.value - nodes_[producer(id).index()].first_result.value; }
  const Node* ProducerNode(ValueId id) const { return producer(id).valid() ? &nodes_[producer(id).index()] : nullptr; }
  ValueId result(NodeId id, size_t i = 0) const { return ValueId(nodes_[id.index()].first_result.index() + i); }
  const std::string_view* attribute(const Node& node, std::string_view name) const;

  // Room for so many nodes of one result, so that adding them moves none.
  void Reserve(size_t nodes);
  ValueId AddParameter(ir::TypeId type);
  NodeId Add(NodeInit init);
  NodeId Add(Node node, std::span<const ir::TypeId> results);
  // The same op on the same operands, to be changed and added; without bodies.
  Node Copy(NodeId id) const;
  // Every consumer of `from` reads `to` once Normalise() has run.
  void Replace(ValueId from, ValueId to) {
    values_[from.index()].alias = to;
    changed_ = true;
    if (has_scopes_) PassScope(from, to);
  }
  // To be called where operands or outputs were edited in place, or a node was marked dead.
  void NoteChange() { changed_ = true; }
  ValueId Resolve(ValueId id) {
    const ValueId next = values_[id.index()].alias;
    return next == id ? id : ResolveAlias(id);
  }
  // Where anything changed: puts aliases in place, removes dead code and sorts; nodes keep their order where
  // they can.
  void Normalise();
  // Normalises, and where most nodes are gone, numbers nodes and values again in program order: ids held elsewhere are
  // void.
  void Compact();

  // The same nodes in another order, each after those that it reads.
  void SetOrder(std::vector<NodeId> order) { order_ = std::move(order); }

  // Whether a node may have executed bodies that passes run on: those of loops and branches, not of kernels.
  bool nests() const { return nests_; }

  // Consumers of each value; a node that reads a value twice stands there once, outputs do not count.
  UserTable Users() const;

  std::vector<ValueId> parameters;
  uint32_t captured_parameters = 0;  // the last ones stand for captured values
  std::vector<ValueId> outputs;

 private:
  struct Value {
    ir::TypeId type;
    NodeId producer;
    ValueId alias;  // what its consumers read once Normalise() has run; itself
  };
  bool MarkNeeded(std::vector<uint8_t>& state);
  ValueId ResolveAlias(ValueId id);
  void PassScope(ValueId from, ValueId to);

  ir::Module* source_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<NodeId> order_;
  bool changed_ = false;  // since Normalise() ran
  bool has_scopes_ = false;
  bool nests_ = false;
};

// Whether every node comes after the nodes it reads.
bool IsOrdered(const Dataflow& flow);

// Ops that must stay even where nobody reads their results.
bool HasSideEffect(const Dataflow& flow, const Node& node);

// An attribute whose text the source module keeps.
ir::Attribute MakeAttribute(ir::Module& source, std::string_view name, std::string text);
// Gives an attribute that the node has another text.
void SetAttribute(ir::Module& source, Node& node, std::string_view name, const std::string& text);
ir::TypeId TensorLike(ir::Module& source, ir::TypeId like, std::vector<int64_t> dims);

}  // namespace hespas::optimise
