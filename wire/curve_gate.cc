#include "wire/curve_gate.h"

#include <pthread.h>
#include <signal.h>

#include "core/error.h"
#include "core/log.h"

namespace gripstream {
namespace {

constexpr size_t kKey_bytes = 32;
constexpr size_t kRequestParts = 7;  // version, id, domain, address, routing id, mechanism, then the key
constexpr int kMaxWarnings = 20;     // somebody who knocks for ever fills no disk

}  // namespace

CurveGate::CurveGate(zmq::context_t& context, const std::vector<std::string>& allowed)
    : context_(context), socket_(context, zmq::socket_type::rep) {
  for (const std::string& key : allowed) {
    std::string bytes(kKey_bytes, '\0');
    GS_CHECK(zmq_z85_decode(reinterpret_cast<uint8_t*>(bytes.data()), key.c_str()) != nullptr, "malformed key");
    allowed_.insert(bytes);
  }
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
  // Signals are for the process's own threads to handle, not for this one.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CurveGate::~CurveGate() {
  context_.shutdown();
  thread_.join();
}

void CurveGate::Run() {
  try {
    for (;;) Answer();
  } catch (const zmq::error_t& error) {
    if (error.num() != ETERM) LogError("CURVE gate: ", error.what());
  }
  socket_.close();
}

void CurveGate::Answer() {
  std::vector<zmq::message_t> request;
  do {
    zmq::message_t part;
    if (!socket_.recv(part)) return;
    request.push_back(std::move(part));
  } while (request.back().more());
  const bool known = request.size() == kRequestParts && request[5].to_string_view() == "CURVE" &&
                     allowed_.contains(request[6].to_string());
  if (!known && request.size() > 3 && warnings_ < kMaxWarnings) {
    ++warnings_;
    LogWarning("refused a connection from ", request[3].to_string(), ": its key is not among those allowed");
  }
  const std::string id = request.size() > 1 ? request[1].to_string() : "";
  const std::string reply[] = {"1.0", id, known ? "200" : "400", known ? "OK" : "unknown key", "", ""};
  for (size_t i = 0; i < std::size(reply); ++i) {
    socket_.send(zmq::buffer(reply[i]), i + 1 < std::size(reply) ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

}  // namespace gripstream
