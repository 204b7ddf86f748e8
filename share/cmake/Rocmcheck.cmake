# rocmcheck_lint(TARGET
#     [CONFIG FILE]      the policy (default: .rocmcheck.ini of the source folder or above)
#     [BASELINE FILE]    known findings
#     [FAIL_ON LEVEL]    note, warning or error
#     [OPTIONS ARG...])  anything else that `rocmcheck lint` takes
#
# Checks the device code of a target when it has been built, and fails the build on findings. Any
# executable, library or object library will do. The program is found in PATH or beside this
# file; ROCMCHECK_EXECUTABLE overrides that, and ROCMCHECK_LINT=OFF switches the checks off.
#
#     list(APPEND CMAKE_MODULE_PATH "/usr/share/rocmcheck/cmake")
#     include(Rocmcheck)
#     rocmcheck_lint(my_kernels FAIL_ON error)
include_guard(GLOBAL)

option(ROCMCHECK_LINT "Check device code with rocmcheck when it has been built" ON)
get_filename_component(_rocmcheck_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(ROCMCHECK_EXECUTABLE rocmcheck HINTS "${_rocmcheck_prefix}/bin"
    DOC "The rocmcheck program")

function(rocmcheck_lint target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONFIG;BASELINE;FAIL_ON" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "rocmcheck_lint: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "rocmcheck_lint: '${target}' is not a target")
    endif()
    if(NOT ROCMCHECK_LINT)
        return()
    endif()
    if(NOT ROCMCHECK_EXECUTABLE)
        message(FATAL_ERROR "rocmcheck_lint: rocmcheck was not found; set ROCMCHECK_EXECUTABLE, "
            "or ROCMCHECK_LINT to OFF")
    endif()

    set(command "${ROCMCHECK_EXECUTABLE}" --quiet lint --require-device-code)
    foreach(name CONFIG BASELINE)
        if(arg_${name})
            get_filename_component(file "${arg_${name}}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
            string(TOLOWER ${name} option)
            list(APPEND command --${option} "${file}")
        endif()
    endforeach()
    if(arg_FAIL_ON)
        list(APPEND command --fail-on ${arg_FAIL_ON})
    endif()
    list(APPEND command --root "${CMAKE_SOURCE_DIR}" ${arg_OPTIONS} --)

    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY" OR type STREQUAL "UTILITY")
        message(FATAL_ERROR "rocmcheck_lint: '${target}' builds no file")
    elseif(type STREQUAL "OBJECT_LIBRARY")
        # these have no link step to hang a command on
        set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.rocmcheck")
        add_custom_command(OUTPUT "${stamp}"
            COMMAND ${command} $<TARGET_OBJECTS:${target}>
            COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
            DEPENDS ${target} $<TARGET_OBJECTS:${target}>
            WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Checking the device code of ${target}" VERBATIM COMMAND_EXPAND_LISTS)
        add_custom_target(${target}-rocmcheck ALL DEPENDS "${stamp}")
    else()
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${command} "$<TARGET_FILE:${target}>"
            WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Checking the device code of ${target}" VERBATIM)
    endif()
endfunction()
