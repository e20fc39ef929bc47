// Which process of an MPI-style start this one is, from the environment that torchrun, mpirun and srun set.
//
//   torchrun   RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR
//   Open MPI   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//   PMI        PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS        (MPICH, Intel MPI)
//   Slurm      SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_NNODES
//
// In this order: mpirun inside a Slurm job leaves Slurm's variables of the batch step around it. Plain functions.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gripstream {

struct ProcessRank {
  int rank = 0, size = 1;
  int local_rank = 0;          // among those on this machine
  bool several_nodes = false;  // as far as the starter tells
  std::string master;          // MASTER_ADDR; empty where it is not set
  std::string starter;         // "torchrun", for messages
};

// A variable's value; null when it is not set.
using Environment = std::function<const char*(const char* name)>;

// Nothing when none of them started this process. Throws InputError for variables that make no sense.
std::optional<ProcessRank> FindProcessRank(const Environment& environment);

}  // namespace gripstream
