# CUDA: used where there is a compiler for it, unless the build is for the sanitizers, which do not know it.
include(CheckLanguage)

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # The toolkit's own place, which is rarely in PATH.
  find_program(nvcc nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(nvcc)
  if(nvcc)
    set(ENV{CUDACXX} ${nvcc})
  endif()
endif()
check_language(CUDA)
if(CMAKE_CUDA_COMPILER AND NOT GRIPSTREAM_SANITIZE AND NOT GRIPSTREAM_TSAN)
  set(cuda_default ON)
else()
  set(cuda_default OFF)
endif()
option(GRIPSTREAM_CUDA "Build the CUDA renderer" ${cuda_default})

if(GRIPSTREAM_CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "GRIPSTREAM_CUDA needs nvcc: put it in PATH or name it in CUDACXX")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 89 90)
  endif()
  if(NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)
  # The newest that CMake 3.25 knows for nvcc 13.
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
endif()

# Compiler settings of a target's CUDA sources: no fused multiply-add, so that results have the CPU's bits.
function(gripstream_cuda target)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CUDA_RUNTIME_LIBRARY Static)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>
    $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off,-Wall,-Wextra,-Wshadow,-Werror>)
endfunction()
