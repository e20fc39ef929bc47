# Third-party libraries, found once and given a target name each. Versions come from tools/pins.env.

# Reads NAME=VALUE lines into PIN_NAME variables.
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/pins.env pin_lines REGEX "^[A-Z_]+=")
foreach(line IN LISTS pin_lines)
  string(REGEX MATCH "^([A-Z_]+)=(.*)$" _ "${line}")
  set(PIN_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/pins.env)

set(GRIPSTREAM_DEPS ${CMAKE_SOURCE_DIR}/build/deps CACHE PATH "Where tools/setup.sh put the wheels")
file(GLOB site_packages ${GRIPSTREAM_DEPS}/venv/lib/python3*/site-packages)
if(SKBUILD AND NOT site_packages)  # no tools/setup.sh here: pip has brought the wheels
  find_package(Python REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} -c
    "import importlib.util as u; print(u.find_spec('mujoco').submodule_search_locations[0].rsplit('/', 1)[0])"
    OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT site_packages)
  message(FATAL_ERROR "No wheels under ${GRIPSTREAM_DEPS}: run tools/setup.sh first")
endif()
list(GET site_packages 0 site_packages)
set(GRIPSTREAM_SITE_PACKAGES ${site_packages})

find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json REQUIRED)
find_package(OpenCV REQUIRED COMPONENTS core imgproc imgcodecs videoio)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZeroMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(Lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(Zstd REQUIRED IMPORTED_TARGET libzstd)

# NCCL: headers of the CUDA toolkit, where it has them. The libraries are opened at run time.
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(NCCL_CUDA_INCLUDE_DIR cuda_runtime.h HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_CUDA_INCLUDE_DIR)
if(NCCL_INCLUDE_DIR AND NCCL_CUDA_INCLUDE_DIR)
  set(nccl_default ON)
else()
  set(nccl_default OFF)
endif()
option(GRIPSTREAM_NCCL "Build the nccl transport" ${nccl_default})

# MuJoCo: headers and library of the wheel. The library has no unversioned name, so it is given by file.
set(mujoco_library ${site_packages}/mujoco/libmujoco.so.${PIN_MUJOCO_VERSION})
if(NOT EXISTS ${mujoco_library})
  message(FATAL_ERROR "MuJoCo ${PIN_MUJOCO_VERSION} not found at ${mujoco_library}: run tools/setup.sh")
endif()
add_library(mujoco::mujoco SHARED IMPORTED)
set_target_properties(mujoco::mujoco PROPERTIES
  IMPORTED_LOCATION ${mujoco_library}
  INTERFACE_INCLUDE_DIRECTORIES ${site_packages}/mujoco/include)

# V-HACD: one header, which its Python binding's wheel brings.
set(vhacd_include ${site_packages}/vhacdx)
if(NOT EXISTS ${vhacd_include}/VHACD.h)
  message(FATAL_ERROR "V-HACD not found at ${vhacd_include}: run tools/setup.sh")
endif()
add_library(vhacd::vhacd INTERFACE IMPORTED)
set_target_properties(vhacd::vhacd PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${vhacd_include})

# LibTorch, CPU half of the wheel. libtorch_cpu.so also needs libcudart and libcupti at load time: toolkit or wheels.
if(GRIPSTREAM_TORCH)
  set(torch_root ${site_packages}/torch)
  file(GLOB cuda_wheel_lib ${site_packages}/nvidia/cu13/lib)
  if(NOT EXISTS ${torch_root}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "LibTorch ${PIN_TORCH_VERSION} not found under ${torch_root}: run tools/setup.sh")
  endif()
  add_library(torch_c10 SHARED IMPORTED)
  set_target_properties(torch_c10 PROPERTIES IMPORTED_LOCATION ${torch_root}/lib/libc10.so)
  add_library(torch_cpu SHARED IMPORTED)
  set_target_properties(torch_cpu PROPERTIES
    IMPORTED_LOCATION ${torch_root}/lib/libtorch_cpu.so
    INTERFACE_LINK_LIBRARIES torch_c10)
  # Last in the search: the wheel brings headers of its own for libraries that Debian has too (fmt).
  target_compile_options(torch_cpu INTERFACE
    "SHELL:-idirafter ${torch_root}/include" "SHELL:-idirafter ${torch_root}/include/torch/csrc/api/include")
  target_link_options(torch_cpu INTERFACE
    "LINKER:--no-as-needed,${torch_root}/lib/libtorch_cpu.so,--as-needed"
    "LINKER:-rpath-link,${torch_root}/lib" "LINKER:-rpath-link,${cuda_wheel_lib}"
    "LINKER:-rpath,${torch_root}/lib" "LINKER:-rpath,${cuda_wheel_lib}" "LINKER:--disable-new-dtags")
endif()

if(GRIPSTREAM_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
