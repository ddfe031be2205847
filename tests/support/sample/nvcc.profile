# SPDX-License-Identifier: Apache-2.0
# Stand-in for the file that the real nvcc reads to find its toolkit.
TOP = $(_HERE_)/..
INCLUDES += "-I$(TOP)/$(_TARGET_DIR_)/include"
