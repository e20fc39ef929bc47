// Tests launch/process_rank.h.
#include "launch/process_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/error.h"

namespace gripstream {
namespace {

std::optional<ProcessRank> Find(const std::map<std::string, std::string>& variables) {
  return FindProcessRank([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(ProcessRank, IsReadFromEveryStarter) {
  const auto torchrun = Find(
      {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}});
  ASSERT_TRUE(torchrun);
  EXPECT_EQ(torchrun->rank, 5);
  EXPECT_EQ(torchrun->size, 8);
  EXPECT_EQ(torchrun->local_rank, 1);
  EXPECT_TRUE(torchrun->several_nodes);
  EXPECT_EQ(torchrun->master, "node0");
  const auto open_mpi = Find({{"OMPI_COMM_WORLD_RANK", "2"},
                              {"OMPI_COMM_WORLD_SIZE", "3"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->rank, 2);
  EXPECT_FALSE(open_mpi->several_nodes);
  const auto pmi = Find({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(pmi);
  EXPECT_EQ(pmi->local_rank, 1);
  const auto slurm =
      Find({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}, {"SLURM_NNODES", "2"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->rank, 3);
  EXPECT_EQ(slurm->local_rank, 1);
  EXPECT_TRUE(slurm->several_nodes);
}

TEST(ProcessRank, OfMpirunCountsInsideASlurmJob) {
  const auto found = Find(
      {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
}

TEST(ProcessRank, IsNothingWithoutAStarter) {
  EXPECT_FALSE(Find({}));
  EXPECT_FALSE(Find({{"RANK", "1"}}));
  EXPECT_FALSE(Find({{"SLURM_JOB_ID", "12"}}));
}

TEST(ProcessRank, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Find({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), InputError);
  EXPECT_THROW(Find({{"RANK", "first"}, {"WORLD_SIZE", "2"}}), InputError);
  EXPECT_THROW(Find({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), InputError);
}

}  // namespace
}  // namespace gripstream
