# gripstream_library(NAME SOURCES... [DEPS targets...])   one folder, one library; headers are included as "folder/file.h"
# gripstream_test(FOLDER SOURCES... [DEPS targets...] [LABELS quick|full] [SERIAL])   one test program per folder and label
#   Programs run beside each other, the tests of one program one after the other (they share temporary files); SERIAL ones,
#   and all that are labelled full, run alone: they start processes, or wait for the clock.

function(gripstream_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(gripstream_${name} STATIC ${ARG_SOURCES})
  target_include_directories(gripstream_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(gripstream_${name} PUBLIC ${ARG_DEPS} PRIVATE gripstream_warnings ${ARG_PRIVATE_DEPS})
endfunction()

function(gripstream_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} gripstream_warnings)
endfunction()

function(gripstream_test name)
  cmake_parse_arguments(ARG "SERIAL" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  set(alone FALSE)
  if(ARG_SERIAL OR ARG_LABELS STREQUAL full)
    set(alone TRUE)
  endif()
  gripstream_executable(test_${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE
    GRIPSTREAM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" GRIPSTREAM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600 RESOURCE_LOCK test_${name} RUN_SERIAL ${alone})
endfunction()
