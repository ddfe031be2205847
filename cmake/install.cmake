# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS cudaenv DESTINATION bin)
install(TARGETS cudaenv_installer_program cudaenv_shim DESTINATION libexec/cudaenv)
