// What only a Python caller can do wrong.
#pragma once

#include "base/diagnostic.h"

namespace hespas::python {

inline constexpr DiagnosticKind kNotAProgram{
    "E0950",
    "An object was given as a program that is none. hespas.load takes a path, bytes, StableHLO or HLO text, and what "
    "jax.jit(f).lower(...), .compile() or jax.export.export(...) return.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNotLowered{
    "E0951",
    "A Python function was given as a program. Hespas reads what a compiler reads: call jax.jit(f).lower(*arguments) "
    "first; arguments may be jax.ShapeDtypeStruct, nothing is executed.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kUnpartitioned{
    "E0952",
    "A program for several devices could not be partitioned: JAX has fewer devices than the program asks for. Set "
    "XLA_FLAGS=--xla_force_host_platform_device_count=N before importing jax, or use `hespas export`.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kBadEstimator{
    "E0953",
    "An estimator written in Python returned something else than hespas.Estimate or a number of seconds, or a negative "
    "or infinite one."};
inline constexpr DiagnosticKind kStaleOp{
    "E0954", "An operation was used after the call that handed it to an estimator had ended.", Outcome::kUsage};
inline constexpr DiagnosticKind kBadArgument{
    "E0955", "An argument has a value that the function does not take; the message names those that it takes.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kMissingPackage{
    "E0956", "A Python package that this call needs is not installed; the message says which and how to get it.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kExportFailed{"E0957",
                                              "`hespas export`, `hespas shard` or `hespas plan` could not make what it "
                                              "was asked for; the message has the reason.",
                                              Outcome::kToolFailed};

inline constexpr const DiagnosticKind* kKinds[] = {&kNotAProgram, &kNotLowered,  &kUnpartitioned,  &kBadEstimator,
                                                   &kStaleOp,     &kBadArgument, &kMissingPackage, &kExportFailed};

}  // namespace hespas::python
