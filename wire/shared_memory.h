// Shared memory without a name: memfd segments that one process makes and another maps after it was passed the
// descriptor. They vanish with the last process that holds them, however it ends.
//
// The maker allocates every page up front and seals the size, and whoever maps a received segment checks both: touching
// the mapping cannot fault (no SIGBUS), whatever the other side does. Too little memory is a RunError, said before any
// page is touched. Mapping objects own their mapping; sharing one between threads needs no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "wire/line.h"
#include "wire/unix_socket.h"

namespace gripstream {

class SharedMemory {
 public:
  // A new segment of zeros. `purpose` goes into the error, "16 record slots".
  static SharedMemory Make(size_t bytes, const std::string& purpose);
  // Maps what a peer passed. RunError when it is not a sealed, fully allocated memfd of exactly `bytes`.
  static SharedMemory Attach(UniqueFd fd, size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  std::span<std::byte> Bytes() const { return bytes_; }
  int Fd() const { return fd_.Get(); }
  void CloseFd() { fd_.Reset(); }  // the mapping stays

 private:
  SharedMemory(UniqueFd fd, size_t bytes);
  UniqueFd fd_;
  std::span<std::byte> bytes_;
};

// A payload that travels as a segment of its own: sealed against writing too.
UniqueFd MakeBlob(std::span<const std::byte> bytes);
// Maps a received blob; RunError when it is not one of exactly `bytes`.
Bulk MapBlob(UniqueFd fd, size_t bytes);

// How a simulator's segment is divided: flags, record slots, command slots. Both sides work it out from the same
// numbers.
struct RegionPlan {
  explicit RegionPlan(const LineShape& shape);
  LineShape shape;
  size_t record_stride_bytes;
  size_t command_stride_bytes;
  size_t records_begin;
  size_t commands_begin;
  size_t total_bytes;
  size_t RecordOffset(uint32_t slot) const { return records_begin + slot * record_stride_bytes; }
  size_t CommandOffset(uint32_t slot) const { return commands_begin + slot * command_stride_bytes; }
};

}  // namespace gripstream
