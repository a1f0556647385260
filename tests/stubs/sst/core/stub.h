// The part of SST's interface that src/engines/sst/element.cc uses, declared again so that it compiles where SST is
// missing. Nothing here is defined: the element is compiled against it, never linked or run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#define CALL_INFO __LINE__, __FILE__, __FUNCTION__
#define COMPONENT_CATEGORY_PROCESSOR 1
#define SST_SER(member) ser& member
#define SST_ELI_ELEMENT_VERSION(major, minor, patch) major, minor, patch
#define SST_ELI_REGISTER_COMPONENT(type, library, name, ...) \
  static const char* ELI_name() { return library "." name; }
#define SST_ELI_DOCUMENT_PARAMS(...)
#define SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS(...)
#define ImplementSerializable(type)

namespace SST {

using ComponentId_t = uint64_t;
using SimTime_t = uint64_t;

namespace Core::Serialization {
class serializer {
 public:
  template <class T>
  serializer& operator&(T& value);
};
}  // namespace Core::Serialization

// Made of a member function, by that function's class and address.
template <class Return, class Argument>
class HandlerBase {
 public:
  virtual ~HandlerBase();
};
template <class Return, class Argument, class Class, Return (Class::*)(Argument)>
class MemberHandler : public HandlerBase<Return, Argument> {
 public:
  explicit MemberHandler(Class* object);
};

class Event {
 public:
  using HandlerBase = SST::HandlerBase<void, Event*>;
  template <class Class, void (Class::*function)(Event*)>
  using Handler = MemberHandler<void, Event*, Class, function>;
  virtual ~Event();
  virtual Event* clone();
  virtual void serialize_order(Core::Serialization::serializer& ser);
};

class Link {
 public:
  void send(SimTime_t delay, Event* event);
};

class Output {
 public:
  void fatal(uint32_t line, const char* file, const char* function, int status, const char* format, ...) const;
};

class Params {
 public:
  template <class T>
  T find(const std::string& key, T otherwise) const;
};

struct ComponentInfo {
  static constexpr uint64_t SHARE_NONE = 0;
};

class Component {
 public:
  explicit Component(ComponentId_t id);
  virtual ~Component();
  virtual void init(unsigned int phase);
  virtual void complete(unsigned int phase);
  virtual void setup();
  virtual void finish();
  virtual bool Status();

 protected:
  SimTime_t getCurrentSimTime(const char* base) const;
  Link* configureSelfLink(const std::string& name, const std::string& base, Event::HandlerBase* handler);
  template <class T, class... Arguments>
  T* loadUserSubComponent(const std::string& slot, uint64_t share, Arguments... arguments);
  void registerAsPrimaryComponent();
  void primaryComponentDoNotEndSim();
  void primaryComponentOKToEndSim();
  Output& getSimulationOutput() const;
};

}  // namespace SST
