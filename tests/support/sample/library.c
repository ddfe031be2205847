/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of every library of a sample toolkit. The mirror maker compiles it once for each set of:
 *   NAME     the function that tells the library's version (cudaRuntimeGetVersion)
 *   RESULT   what that function and the others return: 0, or an error for the stubs of a driver
 *   OTHERS   X(name) X(name) ...: further functions that a program may want to link
 * and writes the version number into `version` afterwards: see samples.py.
 */
static const volatile struct {
    char mark[16];
    int number;
} version = {"@sample-version", 0};

int NAME(int *answer) {
    if (answer) *answer = version.number;
    return RESULT;
}

#define X(name) \
    int name(void) { return RESULT; }
OTHERS
