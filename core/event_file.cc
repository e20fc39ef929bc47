#include "core/event_file.h"

#include <unistd.h>

#include <boost/crc.hpp>
#include <chrono>
#include <filesystem>
#include <protozero/pbf_writer.hpp>

#include "core/error.h"
#include "core/host.h"

namespace gripstream {
namespace {

// Field numbers of tensorboard/compat/proto/{event,summary}.proto.
enum Event { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum Summary { kValue = 1 };
enum Value { kTag = 1, kSimpleValue = 2, kImage = 4 };
enum Image { kHeight = 1, kWidth = 2, kColorspace = 3, kEncodedImage = 4 };

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// TFRecord's mask, so that a CRC of data which itself holds CRCs stays a good check.
uint32_t MaskedCrc(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> castagnoli;
  castagnoli.process_bytes(data.data(), data.size());
  const uint32_t crc = castagnoli.checksum();
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

template <class T>
void AppendLittleEndian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

template <class FillSummary>
std::string SummaryEvent(int64_t step, FillSummary fill) {
  std::string payload;
  protozero::pbf_writer event(payload);
  event.add_double(kWallTime, WallTime());
  event.add_int64(kStep, step);
  protozero::pbf_writer summary(event, kSummary);
  fill(summary);
  return payload;
}

}  // namespace

EventFile::EventFile(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path_ = folder + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(WallTime())) + "." + HostName() + "." +
          std::to_string(getpid());
  out_.open(path_, std::ios::binary);
  if (!out_) throw RunError(path_ + ": cannot be made");
  std::string payload;
  protozero::pbf_writer event(payload);
  event.add_double(kWallTime, WallTime());
  event.add_string(kFileVersion, "brain.Event:2");
  WriteRecord(payload);
}

void EventFile::WriteScalars(int64_t step, const std::vector<std::pair<std::string, double>>& scalars) {
  WriteRecord(SummaryEvent(step, [&](protozero::pbf_writer& summary) {
    for (const auto& [tag, number] : scalars) {
      protozero::pbf_writer value(summary, kValue);
      value.add_string(kTag, tag);
      value.add_float(kSimpleValue, static_cast<float>(number));
    }
  }));
}

void EventFile::WriteImage(int64_t step, const std::string& tag, std::string_view png, int width_px, int height_px) {
  WriteRecord(SummaryEvent(step, [&](protozero::pbf_writer& summary) {
    protozero::pbf_writer value(summary, kValue);
    value.add_string(kTag, tag);
    protozero::pbf_writer image(value, kImage);
    image.add_int32(kHeight, height_px);
    image.add_int32(kWidth, width_px);
    image.add_int32(kColorspace, 3);  // RGB
    image.add_bytes(kEncodedImage, png.data(), png.size());
  }));
}

void EventFile::WriteRecord(const std::string& payload) {
  std::string header;
  AppendLittleEndian(header, static_cast<uint64_t>(payload.size()));
  std::string record = header;
  AppendLittleEndian(record, MaskedCrc(header));
  record += payload;
  AppendLittleEndian(record, MaskedCrc(payload));
  out_.write(record.data(), static_cast<std::streamsize>(record.size()));
  out_.flush();
  if (!out_) throw RunError(path_ + ": cannot write (disk full?)");
}

}  // namespace gripstream
