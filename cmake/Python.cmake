# The Python door (python/): built by `pip install .`, which brings nanobind and the packages that hold MuJoCo and V-HACD
# itself, and by an ordinary build where nanobind is among the wheels of tools/setup.sh --tests.
if(SKBUILD)
  find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
else()
  set(Python_EXECUTABLE ${GRIPSTREAM_DEPS}/venv/bin/python)
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_nanobind)
set(GRIPSTREAM_PYTHON OFF)
if(NOT no_nanobind AND NOT GRIPSTREAM_SANITIZE AND NOT GRIPSTREAM_TSAN AND NOT GRIPSTREAM_FUZZ)
  find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(nanobind CONFIG REQUIRED)
  set(GRIPSTREAM_PYTHON ON)
elseif(SKBUILD)
  message(FATAL_ERROR "nanobind is not installed; pip brings it unless told --no-build-isolation")
endif()
