#pragma once
#include "sst/core/stub.h"

namespace SST::Interfaces {

class SimpleNetwork {
 public:
  using nid_t = int64_t;
  class Request {
   public:
    Request(nid_t destination, nid_t source, size_t bits, bool head, bool tail);
    void givePayload(Event* event);
    Event* takePayload();
  };
  using HandlerBase = SST::HandlerBase<bool, int>;
  template <class Class, bool (Class::*function)(int)>
  using Handler = MemberHandler<bool, int, Class, function>;

  virtual ~SimpleNetwork();
  virtual void init(unsigned int phase);
  virtual void complete(unsigned int phase);
  virtual void setup();
  virtual void finish();
  virtual bool send(Request* request, int network) = 0;
  virtual Request* recv(int network) = 0;
  virtual bool spaceToSend(int network, int bits) = 0;
  virtual void setNotifyOnReceive(HandlerBase* handler) = 0;
  virtual void setNotifyOnSend(HandlerBase* handler) = 0;
};

}  // namespace SST::Interfaces
