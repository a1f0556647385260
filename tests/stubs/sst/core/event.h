#pragma once
#include "sst/core/stub.h"
