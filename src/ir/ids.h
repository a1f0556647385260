#pragma once

#include "base/id.h"

namespace hespas::ir {

HESPAS_ID(OpId);
HESPAS_ID(ValueId);
HESPAS_ID(TypeId);
HESPAS_ID(BlockId);
HESPAS_ID(RegionId);
HESPAS_ID(NameId);  // an interned op or attribute name

}  // namespace hespas::ir
