// The one way in which our programs read their command lines. Header-only: only programs link CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/error.h"

namespace gripstream {

// False: help or the version was asked for, and has been printed. Throws InputError for what the options do not take.
inline bool ParseCommandLine(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);
    return false;
  } catch (const CLI::ParseError& error) {
    const std::string name = app.get_name().empty() ? "" : app.get_name() + " ";
    throw InputError("command line", std::string(error.what()) + " (see " + name + "--help)");
  }
  return true;
}

}  // namespace gripstream
