/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver for tests: compiled with -DLIBCUDA it is libcuda.so.1, otherwise libnvidia-ml.so.1. What it answers is in
 * the file `scenario` of the directory it was loaded from, a line "KEY VALUE" for each fact:
 *
 *   version 12040            of cuDriverGetVersion
 *   driver 550.54.14         of nvmlSystemGetDriverVersion
 *   gpus 2                   in NVML's order, and of each I:
 *   gpu.I.name, gpu.I.capability 8.6, gpu.I.uuid GPU-..., gpu.I.mig 1, gpu.I.instances MIG-...,MIG-..., gpu.I.lost 1
 *   cuda.0 1                 CUDA's first device, as it counts without CUDA_DEVICE_ORDER=PCI_BUS_ID, is NVML's 1
 *   CALL.status 18           what CALL returns
 *   CALL.end hang            or crash, exit: instead of returning
 *   log PATH                 each call appends its name
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };
static char scenario[65536];

/* The value of a key; NULL if it has none. Good until the next call. */
static const char* value_of(const char* key) {
  static char value[512];
  const size_t size = strlen(key);
  for (const char* line = scenario; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (strncmp(line, key, size) != 0 || line[size] != ' ') continue;
    const size_t length = strcspn(line + size + 1, "\n");
    if (length >= sizeof value) return NULL;
    memcpy(value, line + size + 1, length);
    value[length] = 0;
    return value;
  }
  return NULL;
}

static const char* text_of(const char* key) {
  const char* value = value_of(key);
  return value ? value : "";
}

static int number_of(const char* key) { return atoi(text_of(key)); }

static const char* of_gpu(int gpu, const char* key) {
  char name[64];
  snprintf(name, sizeof name, "gpu.%d.%s", gpu, key);
  return text_of(name);
}

__attribute__((constructor)) static void read_scenario(void) {
  Dl_info info;
  char path[4096];
  if (!dladdr((void*)read_scenario, &info)) return;
  snprintf(path, sizeof path, "%s", info.dli_fname);
  char* slash = strrchr(path, '/');
  snprintf(slash ? slash + 1 : path, sizeof path - (size_t)(slash ? slash + 1 - path : 0), "scenario");
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t size = read(fd, scenario, sizeof scenario - 1);
  scenario[size > 0 ? size : 0] = 0;
  close(fd);
}

/* What every function does first: its status. */
static int enter(const char* call) {
  char key[128];
  const char* log = value_of("log");
  if (log) {
    const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    snprintf(key, sizeof key, "%s\n", call);
    if (fd >= 0 && write(fd, key, strlen(key)) < 0) _exit(99);
    close(fd);
  }
  snprintf(key, sizeof key, "%s.end", call);
  const char* end = text_of(key);
  if (strcmp(end, "hang") == 0)
    for (;;) pause();
  if (strcmp(end, "crash") == 0) abort();
  if (strcmp(end, "exit") == 0) exit(7);
  snprintf(key, sizeof key, "%s.status", call);
  return number_of(key);
}

#define ENTER() \
  do { \
    const int status_ = enter(__func__); \
    if (status_ != 0) return status_; \
  } while (0)

static int copy_text(char* to, unsigned size, const char* text) {
  if (!*text || strlen(text) >= size) return *text ? 7 : 3; /* insufficient size, not supported */
  strcpy(to, text);
  return 0;
}

static int capability_of(int gpu, int* major, int* minor) {
  return sscanf(of_gpu(gpu, "capability"), "%d.%d", major, minor) == 2 ? 0 : 3;
}

#ifdef LIBCUDA

static int visible[MOST];
static int visible_count = -1; /* before cuInit */

static int in_cuda_order(int index) {
  const char* order = getenv("CUDA_DEVICE_ORDER");
  char key[32];
  snprintf(key, sizeof key, "cuda.%d", index);
  return value_of(key) && !(order && strcmp(order, "PCI_BUS_ID") == 0) ? number_of(key) : index;
}

/* The GPU that an entry of CUDA_VISIBLE_DEVICES names; -1: none. */
static int named_gpu(const char* entry, int count) {
  if (*entry >= '0' && *entry <= '9') return atoi(entry) < count ? in_cuda_order(atoi(entry)) : -1;
  for (int i = 0; i < count && *entry; ++i) {
    if (strncmp(of_gpu(i, "uuid"), entry, strlen(entry)) == 0) return i;
    if (strncmp(entry, "MIG-", 4) == 0 && strstr(of_gpu(i, "instances"), entry)) return i;
  }
  return -1;
}

int cuDriverGetVersion(int* version) {
  ENTER();
  *version = number_of("version");
  return 0;
}

int cuInit(unsigned flags) {
  (void)flags;
  ENTER();
  const int count = number_of("gpus");
  const char* wanted = getenv("CUDA_VISIBLE_DEVICES");
  visible_count = 0;
  if (!wanted) {
    for (int i = 0; i < count; ++i) visible[visible_count++] = in_cuda_order(i);
  } else {
    char list[1024];
    snprintf(list, sizeof list, "%s", wanted);
    for (char* entry = strtok(list, ", "); entry; entry = strtok(NULL, ", ")) {
      const int gpu = named_gpu(entry, count);
      if (gpu < 0) break;
      visible[visible_count++] = gpu;
    }
  }
  return visible_count == 0 ? 100 : 0;
}

int cuDeviceGetCount(int* count) {
  ENTER();
  if (visible_count < 0) return 3;
  *count = visible_count;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  ENTER();
  if (ordinal < 0 || ordinal >= visible_count) return 101;
  *device = visible[ordinal];
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  ENTER();
  return copy_text(name, (unsigned)size, of_gpu(device, "name"));
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  int major, minor;
  ENTER();
  if (capability_of(device, &major, &minor) != 0 || (attribute != 75 && attribute != 76)) return 1;
  *value = attribute == 75 ? major : minor;
  return 0;
}

int cuDeviceGetUuid(unsigned char* uuid, int device) {
  ENTER();
  const char* text = of_gpu(device, "uuid");
  int count = 0;
  for (text += strlen(text) > 4 ? 4 : 0; *text && count < 16; ++text)
    if (*text != '-') sscanf(text++, "%2hhx", &uuid[count++]);
  return count == 16 ? 0 : 1;
}

#else

/* A handle is the GPU's number and one, for its instances plus their number and one times MOST. */
static void* handle_of(int gpu, int instance) { return (void*)(long)(gpu + 1 + MOST * (instance + 1)); }
static int gpu_of(void* device) { return (int)((long)device % MOST) - 1; }
static int instance_of(void* device) { return (int)((long)device / MOST) - 1; }

int nvmlInit_v2(void) { return enter(__func__); }

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  ENTER();
  return copy_text(version, size, text_of("driver"));
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  ENTER();
  *count = (unsigned)number_of("gpus");
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  ENTER();
  if (*of_gpu((int)index, "lost")) return 15;
  *device = handle_of((int)index, -1);
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  ENTER();
  return copy_text(name, size, of_gpu(gpu_of(device), "name"));
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  ENTER();
  if (instance_of(device) < 0) return copy_text(uuid, size, of_gpu(gpu_of(device), "uuid"));
  char list[512];
  snprintf(list, sizeof list, "%s", of_gpu(gpu_of(device), "instances"));
  const char* entry = strtok(list, ",");
  for (int i = 0; entry && i < instance_of(device); ++i) entry = strtok(NULL, ",");
  return entry ? copy_text(uuid, size, entry) : 6;
}

int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  ENTER();
  return capability_of(gpu_of(device), major, minor);
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  ENTER();
  const char* mode = of_gpu(gpu_of(device), "mig");
  if (!*mode) return 3;
  *current = *pending = (unsigned)atoi(mode);
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  (void)device;
  ENTER();
  *count = 7;
  return 0;
}

/* The first number is free, as after an instance was destroyed. */
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
  ENTER();
  const char* list = of_gpu(gpu_of(device), "instances");
  int count = *list ? 1 : 0;
  for (; *list; ++list) count += *list == ',';
  if (index == 0 || (int)index > count) return 6;
  *instance = handle_of(gpu_of(device), (int)index - 1);
  return 0;
}

#endif
