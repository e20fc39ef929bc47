# Compiler settings for our own code: warnings as errors, sanitizers by option, ccache where it is there.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cacheable only with these relaxations. With the base folder, clones in different places share
  # their objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

add_library(gripstream_warnings INTERFACE)
# GCC 12 raises false alarms of two kinds in optimised code: restrict in std::string concatenation (GCC bug 105651), and
# dangling-pointer where a span is converted in a call.
target_compile_options(gripstream_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-dangling-pointer>)

# A portable baseline: kernels that want more (AVX2, AVX-512) choose it per function at run time.
# Contracting a*b+c to one rounding would make results depend on the instruction set, and so on the machine.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

if(GRIPSTREAM_FUZZ)
  # Every branch counted for libFuzzer, under the sanitizers (clang only; tools/fuzz.sh).
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(GRIPSTREAM_SANITIZE)
  # GCC's own manual: with sanitizers this warning has false alarms (here inside std::regex).
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(GRIPSTREAM_TSAN)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
