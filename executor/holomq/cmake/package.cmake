# SPDX-License-Identifier: Apache-2.0
# What lets other CMake projects find HoloMQ where it was installed; the folder may be moved.
include(CMakePackageConfigHelpers)

set(HOLOMQ_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/holomq)
set_target_properties(holomq_shared PROPERTIES EXPORT_NAME holomq)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/holomqConfig.cmake.in
	${CMAKE_CURRENT_BINARY_DIR}/holomqConfig.cmake INSTALL_DESTINATION ${HOLOMQ_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/holomqConfigVersion.cmake
	COMPATIBILITY SameMinorVersion)
install(EXPORT holomqTargets NAMESPACE holomq:: DESTINATION ${HOLOMQ_CMAKE_DIR} COMPONENT dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/holomqConfig.cmake
	${CMAKE_CURRENT_BINARY_DIR}/holomqConfigVersion.cmake
	DESTINATION ${HOLOMQ_CMAKE_DIR} COMPONENT dev)
