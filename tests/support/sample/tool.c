/* SPDX-License-Identifier: Apache-2.0
 *
 * A small program that stands in for nvcc, ptxas and the other tools of a sample toolkit. It answers
 * --version as the real ones do, finds its toolkit from argv[0] as the real nvcc does (so a caller that
 * passes a wrong argv[0] is found out), and has options by which a test sees how it was started.
 *
 * It is compiled once. The mirror maker writes name, release and so on into `identity`: see samples.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS = 5, BLOCK = 512 };

/* Fields end with '|': name, title, release (12.4), version (12.4.131), architectures ("50 52 ..."). */
static const volatile char identity[BLOCK] = "@sample-identity@";

static char field[FIELDS][BLOCK];
static char here[4096];

static void read_identity(void) {
    const volatile char *next = identity;
    for (int i = 0; i < FIELDS; i++) {
        size_t length = 0;
        while (*next && *next != '|') field[i][length++] = *next++;
        if (*next) next++;
    }
}

/* The directory that this program was called by: links are not resolved, as the real nvcc does not. */
static void find_here(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *path = getenv("PATH");
    if (slash) {
        snprintf(here, sizeof here, "%.*s", (int)(slash - name), name);
        return;
    }
    while (path && *path) {
        char candidate[sizeof here + 256];
        size_t length = strcspn(path, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
        if (access(candidate, X_OK) == 0) {
            snprintf(here, sizeof here, "%.*s", (int)length, path);
            return;
        }
        path += length + (path[length] == ':');
    }
}

static int exists(const char *suffix) {
    char path[sizeof here + 64];
    struct stat info;
    snprintf(path, sizeof path, "%s%s", here, suffix);
    return stat(path, &info) == 0;
}

static void print_version(void) {
    printf("%s: NVIDIA (R) %s\n", field[0], field[1]);
    printf("Copyright (c) 2005-2026 NVIDIA Corporation\n");
    printf("Built on Thu_Jan__1_00:00:00_UTC_2026\n");
    printf("Cuda compilation tools, release %s, V%s\n", field[2], field[3]);
    printf("Build cuda_%s.r%s/compiler.0_0\n", field[2], field[2]);
}

/* What the real nvcc prints for -v before it compiles, as far as its profile sets it. */
static int print_settings(void) {
    fprintf(stderr, "#$ _HERE_=%s\n#$ _THERE_=%s\n", here, here);
    if (!exists("/nvcc.profile")) {
        fprintf(stderr, "%s: no nvcc.profile in %s\n", field[0], here);
        return 1;
    }
    const char *target = exists("/../targets/x86_64-linux") ? "targets/x86_64-linux" : "";
    const char *size = *target ? "" : "64";
    fprintf(stderr, "#$ _TARGET_DIR_=%s\n#$ TOP=%s/..\n#$ CICC_PATH=%s/../nvvm/bin\n", target, here, here);
    fprintf(stderr, "#$ INCLUDES=\"-I%s/../%s/include\"\n", here, target);
    fprintf(stderr, "#$ LIBRARIES=  \"-L%s/../%s/lib%s/stubs\" \"-L%s/../%s/lib%s\"\n", here, target, size, here,
            target, size);
    if (!exists("/../nvvm/bin/cicc")) {
        fprintf(stderr, "sh: 1: cicc: not found\n");
        return 127;
    }
    return 0;
}

static void print_architectures(const char *prefix) {
    for (char *word = strtok(field[4], " "); word; word = strtok(NULL, " ")) printf("%s%s\n", prefix, word);
}

/* Ends only by a signal, with the default action. */
static void wait_for_signal(void) {
    printf("waiting %ld\n", (long)getpid());
    fflush(stdout);
    for (;;) pause();
}

static int copy_input(void) {
    char buffer[65536];
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, length, stdout);
    return ferror(stdin) || fflush(stdout) != 0;
}

/* The whole command line, argv[0] first: one argument a line, between brackets. */
static int echo_arguments(int count, char **arguments) {
    for (int i = 0; i < count; i++) printf("[%s]\n", arguments[i]);
    return 0;
}

static int echo_environment(const char *name) {
    const char *value = getenv(name);
    printf("%s%s%s\n", name, value ? "=" : " is not set", value ? value : "");
    return 0;
}

int main(int count, char **arguments) {
    read_identity();
    find_here(arguments[0]);
    for (int i = 1; i < count; i++) {
        const char *option = arguments[i];
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        if (!strcmp(option, "--echo-args")) return echo_arguments(count, arguments);
        if (!strcmp(option, "--echo-env")) return echo_environment(value);
        if (!strcmp(option, "--exit")) return atoi(value);
        if (!strcmp(option, "--wait")) wait_for_signal();
        if (!strcmp(option, "--cat")) return copy_input();
        if (!strcmp(option, "--version") || !strcmp(option, "-V")) return print_version(), 0;
        if (!strcmp(option, "--list-gpu-arch")) return print_architectures("compute_"), 0;
        if (!strcmp(option, "--list-gpu-code")) return print_architectures("sm_"), 0;
        if (!strcmp(option, "-v") || !strcmp(option, "--dryrun") || !strcmp(option, "-dryrun"))
            return print_settings();
    }
    fprintf(stderr, "%s fatal   : no option that this sample knows\n", field[0]);
    return 1;
}
