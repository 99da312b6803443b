# SPDX-License-Identifier: MIT
# Installed files: both libraries, headers, a CMake package (find_package(gstride)) and gstride.pc.
include(CMakePackageConfigHelpers)

set(GSTRIDE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gstride)

install(TARGETS gstride_shared gstride_static EXPORT gstrideTargets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gstrideTargets NAMESPACE gstride:: DESTINATION ${GSTRIDE_CMAKE_DIR})

configure_package_config_file(cmake/gstrideConfig.cmake.in gstrideConfig.cmake
    INSTALL_DESTINATION ${GSTRIDE_CMAKE_DIR})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(gstrideConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gstrideConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/gstrideConfigVersion.cmake DESTINATION ${GSTRIDE_CMAKE_DIR})

# Directories in gstride.pc follow the prefix if they lie below it, so that a moved tree still works.
foreach(kind LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(GSTRIDE_PC_${kind} "${CMAKE_INSTALL_${kind}}")
    else()
        set(GSTRIDE_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()
configure_file(cmake/gstride.pc.in gstride.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gstride.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
