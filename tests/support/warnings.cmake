# SPDX-License-Identifier: Apache-2.0
# Compiler warnings, sanitizers and the helpers every folder uses.

set(HOLORUN_WARNINGS
	-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wformat=2 -Wcast-qual -Wwrite-strings
	-Wimplicit-fallthrough -Wdouble-promotion)
set(HOLORUN_C_WARNINGS -Wstrict-prototypes -Wmissing-prototypes)
# Not -Wnull-dereference: gcc 12 at -O2 reports paths that only its own inlining makes.
set(HOLORUN_GCC_WARNINGS -Wlogical-op -Wduplicated-cond -Wduplicated-branches)

if(HOLORUN_SANITIZE)
	add_compile_options(-fsanitize=${HOLORUN_SANITIZE} -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${HOLORUN_SANITIZE})
	if(HOLORUN_SANITIZE MATCHES "undefined")
		add_compile_options(-fno-sanitize-recover=all)
	endif()
endif()

# hr_warn(target [CONVERSION] [SIGN]): the house's warnings; CONVERSION adds -Wconversion
# (everything but tests), SIGN adds -Wsign-conversion (where sizes and offsets live).
function(hr_warn target)
	cmake_parse_arguments(W "CONVERSION;SIGN" "" "" ${ARGN})
	target_compile_options(${target} PRIVATE ${HOLORUN_WARNINGS}
		$<$<COMPILE_LANGUAGE:C>:${HOLORUN_C_WARNINGS}>)
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:${HOLORUN_GCC_WARNINGS}>)
	endif()
	if(CMAKE_C_COMPILER_ID MATCHES "Clang")
		# gcc knows that a v*printf function has no literal to show; clang asks for an attribute.
		target_compile_options(${target} PRIVATE -Wno-format-nonliteral)
	endif()
	if(W_CONVERSION)
		target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wconversion>)
	endif()
	if(W_SIGN)
		target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wsign-conversion>)
	elseif(W_CONVERSION)
		target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wno-sign-conversion>)
	endif()
	if(HOLORUN_WERROR)
		target_compile_options(${target} PRIVATE -Werror)
	endif()
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
endfunction()

# hr_plugin(name SOURCES... LIBS...): plugins/<name>/ becomes <build>/plugins/libname.so, which
# exports exactly hop_plugin_v1.
function(hr_plugin name)
	cmake_parse_arguments(P "" "" "SOURCES;LIBS" ${ARGN})
	add_library(plugin_${name} MODULE ${P_SOURCES})
	set_target_properties(plugin_${name} PROPERTIES PREFIX "lib" OUTPUT_NAME ${name}
		LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
	target_link_libraries(plugin_${name} PRIVATE hop ${P_LIBS})
	# Static kernels must not leak their symbols through the plugin.
	target_link_options(plugin_${name} PRIVATE -Wl,--exclude-libs,ALL)
	hr_warn(plugin_${name} CONVERSION)
	install(TARGETS plugin_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/holorun
		COMPONENT plugins)
endfunction()

# hr_test(name LABELS l.. SOURCES s.. LIBS l.. [TIMEOUT n] [SERIAL] [ARGS a..] [ENV K=V..]):
# one cmocka program = one ctest entry.  Exit 77 is a skip.
function(hr_test name)
	cmake_parse_arguments(T "SERIAL" "TIMEOUT" "LABELS;SOURCES;LIBS;ARGS;ENV;DEPENDS" ${ARGN})
	add_executable(test_${name} ${T_SOURCES})
	target_link_libraries(test_${name} PRIVATE ${T_LIBS} PkgConfig::CMOCKA Threads::Threads)
	target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
	hr_warn(test_${name})
	if(T_DEPENDS)
		add_dependencies(test_${name} ${T_DEPENDS})
	endif()
	add_test(NAME ${name} COMMAND test_${name} ${T_ARGS})
	hr_test_properties(${name} ${ARGN})
endfunction()

# hr_script_test(name COMMAND c.. LABELS l.. ...): the same for a script.
function(hr_script_test name)
	cmake_parse_arguments(T "SERIAL" "TIMEOUT" "LABELS;COMMAND;ENV" ${ARGN})
	add_test(NAME ${name} COMMAND ${T_COMMAND})
	hr_test_properties(${name} ${ARGN})
endfunction()

function(hr_test_properties name)
	cmake_parse_arguments(T "SERIAL" "TIMEOUT" "LABELS;SOURCES;LIBS;ARGS;ENV;COMMAND;DEPENDS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 120)
	endif()
	set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT}
		SKIP_RETURN_CODE 77)
	if(T_SERIAL)
		set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
	endif()
	# An allocation that cannot be had is NULL there too, as the tests of refusals want it.
	if(HOLORUN_SANITIZE MATCHES "address" AND NOT "${T_ENV}" MATCHES "ASAN_OPTIONS")
		list(APPEND T_ENV "ASAN_OPTIONS=allocator_may_return_null=1")
	endif()
	if(T_ENV)
		set_tests_properties(${name} PROPERTIES ENVIRONMENT "${T_ENV}")
	endif()
endfunction()
