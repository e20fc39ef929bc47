// CURVE keys: who may speak with whom on addresses beyond this machine, and the folder that holds the keys.
//
//   KEYS/learner.secret     of the learner; only on its machine, mode 0600
//   KEYS/learner.public     by which simulators know the learner
//   KEYS/simulator.secret   of the simulators on this machine, mode 0600
//   KEYS/allowed/*.public   whom the learner lets in, one key a file; nobody else gets past the handshake
//
// A key file holds one line of 40 characters (Z85, ZeroMQ's text form of 32 bytes). Files that are missing, malformed
// or open to other users throw InputError; nothing is ever overwritten. Plain functions; no thread rule.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

// What one end of an encrypted connection holds. Empty: no encryption.
struct CurveIdentity {
  std::string secret_key;
  std::string learner_key;           // simulators: the only peer they accept
  std::vector<std::string> allowed;  // learner: the only peers it accepts
  bool Encrypts() const { return !secret_key.empty(); }
};

// Read from wire.curve.keys; an empty folder name gives an empty identity.
CurveIdentity LearnerIdentity(const std::string& keys_folder);
CurveIdentity SimulatorIdentity(const std::string& keys_folder);

// Makes the keys of a learner and of the simulators beside it. InputError when the folder holds any already.
void MakeKeyFolder(const std::string& folder);
// Makes only the keys of the simulators of one machine: simulator.secret and allowed/NAME.public.
void MakeSimulatorKeys(const std::string& folder, const std::string& name);

// The public key that belongs to a secret one; InputError naming `path` when it is none.
std::string PublicKeyOf(const std::string& secret_key, const std::string& path);

}  // namespace gripstream
