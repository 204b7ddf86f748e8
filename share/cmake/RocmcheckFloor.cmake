# RocmcheckFloor: device code of CMake's HIP language never below -O1 unless the user says so.
#
#   include(RocmcheckFloor)
#   rocmcheck_hip_opt_floor()                   # this directory and those below it
#   rocmcheck_hip_opt_floor(TARGET kernels ...) # these targets alone
#
# CMake's HIP language calls clang++, whose default is -O0: a build type that is empty, None or of
# your own, and from CMake 4.1 on also Debug, passes no -O at all. For each such configuration -O1 goes
# IN FRONT of every other flag, so that any -O that follows (target and source options, directory
# options, usage requirements) wins over it; a level on the line is never lowered. An explicit -O0 is
# kept, and warned of. One status line says what was decided; `rocmcheck flags --cmake-build-type ...`
# prints the same decision without CMake.
#
# Call it after enable_language(HIP) or project(... LANGUAGES HIP), before the targets.

include_guard(GLOBAL)

# Options of clang whose argument is the next word: that word is no flag.
set(_ROCMCHECK_TAKES_NEXT -o -x -I -D -U -include -isystem -idirafter -iquote -imacros -isysroot
  -iprefix -iwithprefix -iwithprefixbefore -iframework -ivfsoverlay -MF -MT -MQ -MJ -Xlinker
  -Xassembler -Xpreprocessor -Xoffload-linker -Xcuda-fatbinary -Xcuda-ptxas -Xopenmp-target -mllvm
  -target -arch -L -l -F -framework -z -u -T -e -b -B -G -A --param --sysroot -gcc-toolchain
  -working-directory -serialize-diagnostics -dependency-file --offload-arch -include-pch
  CACHE INTERNAL "")

# The level that one word states ("-O3"), or nothing.
function(_rocmcheck_level word result)
  set(level "")
  if(word MATCHES "^(-O|--optimize=)([0-3sgz]|fast)$")
    set(level "-O${CMAKE_MATCH_2}")
  elseif(word STREQUAL "-O" OR word STREQUAL "--optimize" OR word STREQUAL "--optimize=")
    set(level "-O1")
  elseif(word MATCHES "^(-O|--optimize=)[0-9]+$")
    set(level "-O3")
  endif()
  set(${result} "${level}" PARENT_SCOPE)
endfunction()

# The device level of a line of flags ("-O3"), or nothing when the line leaves it to clang++.
function(_rocmcheck_device_level flags result)
  separate_arguments(words UNIX_COMMAND "${flags}")
  set(level "")
  set(last "") # of -Xclang: the compiler proper reads it behind all others
  set(before "")
  foreach(word IN LISTS words)
    if(before STREQUAL "-Xclang")
      _rocmcheck_level("${word}" stated)
      if(stated)
        set(last "${stated}")
      endif()
      set(before "")
    elseif(before MATCHES "^-Xarch_(device|amdgcn)$")
      _rocmcheck_level("${word}" stated)
      if(stated)
        set(level "${stated}")
      endif()
      set(before "")
    elseif(before)
      set(before "")
    elseif(word MATCHES "^(-Xclang$|-Xarch_|-Xoffload-linker-|-Xopenmp-target=)"
        OR word IN_LIST _ROCMCHECK_TAKES_NEXT)
      set(before "${word}")
    else()
      _rocmcheck_level("${word}" stated)
      if(stated)
        set(level "${stated}")
      endif()
    endif()
  endforeach()
  if(last)
    set(level "${last}")
  endif()
  set(${result} "${level}" PARENT_SCOPE)
endfunction()

function(rocmcheck_hip_opt_floor)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TARGET")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rocmcheck_hip_opt_floor: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "HIP" IN_LIST languages)
    message(STATUS "rocmcheck: HIP is not an enabled language here: no floor for its device code")
    return()
  endif()

  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    set(configs ${CMAKE_CONFIGURATION_TYPES})
  elseif(CMAKE_BUILD_TYPE)
    set(configs ${CMAKE_BUILD_TYPE})
  else()
    set(configs "(empty)")
  endif()

  set(floored "")
  set(unchanged "")
  foreach(config IN LISTS configs)
    set(variable CMAKE_HIP_FLAGS)
    set(when "$<COMPILE_LANGUAGE:HIP>")
    set(flags "${CMAKE_HIP_FLAGS}")
    if(NOT config STREQUAL "(empty)")
      string(TOUPPER "${config}" upper)
      set(variable CMAKE_HIP_FLAGS_${upper})
      set(when "$<AND:$<COMPILE_LANGUAGE:HIP>,$<CONFIG:${config}>>")
      string(APPEND flags " ${${variable}}")
    endif()
    _rocmcheck_device_level("${flags}" level)
    if(level)
      list(APPEND unchanged "${config} ${level}")
      if(level STREQUAL "-O0")
        message(WARNING "rocmcheck: ${config}: HIP device code at -O0, as asked for: its kernels "
          "will declare a hostcall buffer, a heap and a dynamic stack that they never use")
      endif()
      continue()
    endif()
    list(APPEND floored "${config}")
    if(arg_TARGET)
      foreach(target IN LISTS arg_TARGET)
        # SHELL: keeps CMake from taking it for a repetition of a later -O1
        target_compile_options(${target} BEFORE PRIVATE "$<${when}:SHELL:-O1>")
      endforeach()
    elseif(variable STREQUAL "CMAKE_HIP_FLAGS")
      set(CMAKE_HIP_FLAGS "-O1 ${CMAKE_HIP_FLAGS}" PARENT_SCOPE)
    else()
      # in front of CMAKE_HIP_FLAGS would be every configuration; in front of this one's is enough,
      # since CMAKE_HIP_FLAGS holds no level
      set(${variable} "-O1 ${${variable}}" PARENT_SCOPE)
    endif()
  endforeach()

  set(line "")
  if(floored)
    list(JOIN floored ", " names)
    string(APPEND line "floor -O1 for ${names}")
  endif()
  if(unchanged)
    list(JOIN unchanged ", " names)
    if(line)
      string(APPEND line "; ")
    endif()
    string(APPEND line "unchanged: ${names}")
  endif()
  if(arg_TARGET)
    list(JOIN arg_TARGET ", " names)
    string(APPEND line " (${names})")
  endif()
  message(STATUS "rocmcheck: HIP device code: ${line}")
endfunction()
