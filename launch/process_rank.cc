#include "launch/process_rank.h"

#include <charconv>
#include <cstring>

#include "core/error.h"

namespace gripstream {
namespace {

struct Starter {
  const char *name, *rank, *size, *local_rank, *local_size, *nodes;
};

constexpr Starter kStarters[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", ""},
    {"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", ""},
    {"mpirun (PMI)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", "SLURM_NNODES"},
};

// Nothing when the variable is not set.
std::optional<int> Number(const Environment& environment, const char* name) {
  const char* text = *name ? environment(name) : nullptr;
  if (!text) return std::nullopt;
  int value = -1;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end || value < 0) throw InputError("environment", name, text, "a number from 0");
  return value;
}

}  // namespace

std::optional<ProcessRank> FindProcessRank(const Environment& environment) {
  for (const Starter& starter : kStarters) {
    const std::optional<int> rank = Number(environment, starter.rank), size = Number(environment, starter.size);
    if (!rank || !size) continue;
    if (*rank >= *size) {
      throw InputError("environment", starter.rank, std::to_string(*rank),
                       std::string("less than ") + starter.size + " = " + std::to_string(*size));
    }
    ProcessRank found;
    found.rank = *rank;
    found.size = *size;
    found.starter = starter.name;
    found.local_rank = Number(environment, starter.local_rank).value_or(*rank);
    const std::optional<int> local_size = Number(environment, starter.local_size);
    found.several_nodes = local_size.value_or(*size) < *size || Number(environment, starter.nodes).value_or(1) > 1;
    if (const char* master = environment("MASTER_ADDR")) found.master = master;
    return found;
  }
  return std::nullopt;
}

}  // namespace gripstream
