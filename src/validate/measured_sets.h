// The measured sets of data/measured as rows with their sizes, and as comparisons with the models.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/model.h"
#include "validate/validation.h"

namespace hespas::validate {

struct GroupKey {
  std::string set, mode, device, op;
  std::strong_ordering operator<=>(const GroupKey&) const = default;
};
using Groups = std::map<GroupKey, std::vector<Comparison>>;

// What a device is predicted with.
struct DeviceModel {
  hardware::Device figures;
  estimate::calibrated::Parameters parameters;
};
// Of a preset; nothing where that device is not compared.
using ModelOf = std::function<std::optional<DeviceModel>(const std::string& preset)>;

struct KernelRow {
  std::string set;
  std::string device;  // preset
  std::string op;      // or datatype, of matmuls
  estimate::calibrated::KernelSpec kernel;
  double us = 0;
  double constant_us = 0;  // of the baseline "roofline and a constant"
};

struct CollectiveRow {
  std::string device;
  std::string size;  // class: "up to 1 MiB", ...
  estimate::calibrated::CollectiveSpec collective;
  double us = 0;
  double wire_bytes = 0;
};

std::optional<std::vector<KernelRow>> ReadGemmRows(Diagnostics& diagnostics);
std::optional<std::vector<KernelRow>> ReadKernelRows(Diagnostics& diagnostics);
std::optional<std::vector<CollectiveRow>> ReadCollectiveRows(Diagnostics& diagnostics);

Comparison Compare(const KernelRow& row, const estimate::calibrated::KernelModel& model);
Comparison Compare(const CollectiveRow& row, const estimate::calibrated::CollectiveModel& model);

void AddRows(Groups& groups, const std::string& mode, const std::vector<KernelRow>& rows, const ModelOf& model_of);
void AddRows(Groups& groups, const std::string& mode, const std::vector<CollectiveRow>& rows, const ModelOf& model_of);

// Set "published errors": mean errors of baselines, in percent, beside what they would be if the model's times were the
// measured ones; false where a file is missing or damaged.
bool AddPublishedErrors(Groups& groups, const std::string& mode, const ModelOf& model_of, Diagnostics& diagnostics);

// Sets "nodes" and "models"; false where a file is missing or damaged.
bool AddModels(Groups& groups, const std::string& mode, const ModelOf& model_of, Diagnostics& diagnostics);

}  // namespace hespas::validate
