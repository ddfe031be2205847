# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS cudaenv DESTINATION bin)
install(TARGETS cudaenv_installer_program cudaenv_shim cudaenv_hook DESTINATION libexec/cudaenv)
if(TARGET cudaenv_library_shim)
  install(TARGETS cudaenv_library_shim LIBRARY DESTINATION libexec/cudaenv)
endif()
# Where the shells look for what packages bring.
install(FILES completions/cudaenv.bash DESTINATION share/bash-completion/completions RENAME cudaenv)
install(FILES completions/_cudaenv DESTINATION share/zsh/site-functions)
install(FILES completions/cudaenv.fish DESTINATION share/fish/vendor_completions.d)
