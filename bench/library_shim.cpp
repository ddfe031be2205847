// SPDX-License-Identifier: Apache-2.0
//
// What the shim of libcudart adds to the start of a program that calls it once, and to a call, against the library
// itself and against one more library that does nothing.
//
//   library_shim PROGRAM [LIBCUDART [ROUNDS]]
//
// PROGRAM is cudaenv, which makes the shim. LIBCUDART is that of the nvcc on PATH if it is not named; where there is
// none, or it is `-`, a stand-in is compiled, as are the programs: a C compiler is needed. Exit status 1 if a goal is
// missed.

#include <cstdlib>
#include <optional>
#include <set>

#include <dlfcn.h>
#include <link.h>

#include "rounds.hpp"

namespace {

using namespace bench;

constexpr double k_largest_ratio = 1.15;    // of a start to one with the library itself
constexpr double k_most_microseconds = 30;  // of a start above one with a library that does nothing
constexpr double k_most_nanoseconds = 0.5;  // of a call

// Allocates when it is loaded, as the real one does: else the shim would seem to cost what it merely does first.
constexpr const char* k_stand_in = R"(
#include <stdlib.h>
void *standInsOwn;
__attribute__((constructor)) static void construct(void) { standInsOwn = malloc(100); }
int cudaRuntimeGetVersion(int *version) { *version = 13090; return 0; }
int cudaGetLastError(void) { return 0; }
)";
// As the real one: what a shim brings into the process must not seem to be its own.
constexpr const char* k_needed = "-Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -l:librt.so.1";
// With an argument it tells which libraries it has.
constexpr const char* k_calling = R"(
#include <stdio.h>
#include <string.h>
int cudaRuntimeGetVersion(int *);
int main(int count, char **arguments) {
  int version = 0, error = cudaRuntimeGetVersion(&version);
  char line[4096];
  FILE *maps = count > 1 ? fopen(arguments[1], "r") : NULL;
  while (maps && fgets(line, sizeof line, maps))
    if (strchr(line, '/')) fputs(strchr(line, '/'), stdout);
  return error != 0 || version == 0;
}
)";
constexpr const char* k_idle = "int main(void) { return 0; }\n";
constexpr const char* k_trivial = "int trivial(void) { return 0; }\n";

void compile(const fs::path& output, const std::string& source, const std::string& arguments) {
  const fs::path made = output.string() + ".made";
  write_file(output.string() + ".c", source);
  const std::string command = "cc -O2 -o '" + made.string() + "' '" + output.string() + ".c' " + arguments;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  write_file(output, bytes_of(made));
}

void compile_library(const fs::path& output, const std::string& source, const std::string& needed = "") {
  const std::string soname = output.filename();
  const fs::path versions = output.string() + ".map";
  write_file(versions, soname + " { global: cuda*; trivial; local: *; };\n");
  compile(output, source,
          "-shared -fPIC -Wl,-soname," + soname + " -Wl,--version-script='" + versions.string() + "' " + needed);
}

// The libcudart beside an nvcc on PATH, under its SONAME.
std::optional<fs::path> machines_libcudart() {
  const char* list = std::getenv("PATH");
  for (std::string rest = list ? list : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path nvcc = fs::path(rest.substr(0, end)) / "nvcc";
    rest.erase(0, end + 1);
    std::error_code none;
    if (!fs::exists(nvcc, none)) continue;
    std::optional<fs::path> found;
    for (const auto& entry : fs::directory_iterator(fs::canonical(nvcc).parent_path().parent_path() / "lib64", none)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("libcudart.so.") && (!found || name.size() < found->filename().string().size()))
        found = entry.path();
    }
    if (found) return found;
  }
  return std::nullopt;
}

// What a program prints; throws if it fails.
std::string output_of(std::vector<std::string> command, std::vector<std::string> environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  rusage usage;
  std::vector<char*> arguments = pointers(command);
  std::vector<char*> variables = pointers(environment);
  const int status = run(arguments.data(), variables.data(), ends[1], usage);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  if (status != 0) throw std::runtime_error(command[0] + " failed");
  return text;
}

// A root with 20 toolkits of a major, of which the newest has the library, and a project three directories above the
// working directory that names it.
class Place {
 public:
  Place(const fs::path& top, const fs::path& program, const std::optional<fs::path>& real)
      : m_top(top), m_soname(real ? real->filename().string() : "libcudart.so.13") {
    for (int minor = 0; minor < 10; ++minor)
      for (int patch = 0; patch < 2; ++patch) {
        m_toolkit = root() / "versions" / (major() + "." + std::to_string(minor) + "." + std::to_string(patch));
        write_file(m_toolkit / "bin/nvcc", "");
        write_file(m_toolkit / "receipt.json", "{}\n");
      }
    if (real)
      write_file(library(), bytes_of(*real));
    else
      compile_library(library(), k_stand_in, k_needed);
    write_file(m_top / "home/project/.cuda-version", m_toolkit.filename().string() + "\n");
    fs::create_directories(m_top / "home/project/a/b/c");
    fs::current_path(m_top / "home/project/a/b/c");
    fs::create_directories(m_top / "run");
    fs::permissions(m_top / "run", fs::perms(0700));
    output_of({program, "rehash"}, environment());
    if (!fs::exists(shim())) throw std::runtime_error("rehash has made no shim");
  }

  std::string major() const { return m_soname.substr(m_soname.find(".so.") + 4, 2); }
  fs::path library() const { return m_toolkit / "lib64" / m_soname; }
  fs::path shim() const { return root() / "shims/lib" / m_soname; }

  std::vector<std::string> environment() const {
    return {"HOME=" + (m_top / "home").string(), "PATH=/usr/bin:/bin", "PWD=" + (m_top / "home/project/a/b/c").string(),
            "XDG_RUNTIME_DIR=" + (m_top / "run").string(), "CUDAENV_SHARED_ROOT="};
  }

  // A program that finds its libraries in a directory.
  Variant program(const std::string& name, const char* source, const fs::path& directory,
                  const std::string& arguments) {
    const fs::path file = m_top / "programs" / std::to_string(++m_programs);
    compile(file, source, "-Wl,--no-as-needed " + arguments);
    Variant variant{name, {file}};
    variant.variables = {"LD_LIBRARY_PATH=" + directory.string()};
    return variant;
  }

 private:
  fs::path root() const { return m_top / "home/.cudaenv"; }

  fs::path m_top;
  std::string m_soname;
  fs::path m_toolkit;
  int m_programs = 0;
};

// Throws if a program has other libraries than those: one that does without the shim is fast.
void check(const Variant& variant, const std::set<fs::path>& expected, const Place& place) {
  std::vector<std::string> environment = place.environment();
  environment.insert(environment.end(), variant.variables.begin(), variant.variables.end());
  std::string text = output_of({variant.command[0], "/proc/self/maps"}, environment);
  std::set<fs::path> found;
  while (!text.empty()) {
    const fs::path path = text.substr(0, text.find('\n'));
    text.erase(0, path.string().size() + 1);
    const std::string name = path.filename();
    if (name.starts_with("libcudart") || name.starts_with("libtrivial")) found.insert(path);
  }
  if (found == expected) return;
  std::string list;
  for (const fs::path& path : found) list.append(" ").append(path.native());
  throw std::runtime_error(variant.name + " has loaded" + list);
}

std::vector<double> differences(const std::vector<double>& of, const std::vector<double>& from) {
  std::vector<double> list;
  for (std::size_t i = 0; i < of.size(); ++i) list.push_back(of[i] - from[i]);
  return list;
}

bool judge(const char* what, double figure, double goal, const char* unit) {
  std::printf("%s: %.2f%s, at most %.2f\n", what, figure, unit, goal);
  return figure <= goal;
}

bool compare_starts(Place& place, const fs::path& top, int rounds) {
  const std::string library = "'" + place.library().string() + "'";
  // The same file of the library for all, in whichever directory.
  const fs::path beside = top / "one-more";
  fs::create_directories(beside);
  fs::create_hard_link(place.library(), beside / place.library().filename());
  compile_library(beside / "libtrivial.so", k_trivial);
  const std::string trivial = "'" + (beside / "libtrivial.so").string() + "' ";
  std::vector<Variant> variants = {
      place.program("no libcudart", k_idle, beside, ""),
      place.program("direct", k_calling, place.library().parent_path(), library),
      place.program("one more library", k_calling, beside, trivial + library),
      place.program("shim", k_calling, place.shim().parent_path(), library),
      place.program("shim, major only", k_calling, place.shim().parent_path(), library),
  };
  variants[4].variables.push_back("CUDAENV_VERSION=" + place.major());
  check(variants[1], {place.library()}, place);
  check(variants[2], {beside / place.library().filename(), beside / "libtrivial.so"}, place);
  for (const std::size_t i : {3, 4}) check(variants[i], {place.library(), place.shim()}, place);
  measure(variants, place.environment(), rounds);
  print(variants, variants[1]);
  const std::vector<double>&direct = variants[1].microseconds, &more = variants[2].microseconds,
        &shim = variants[3].microseconds;
  std::printf("in pairs: shim %+.1f us to direct, one more library %+.1f us to direct\n",
              quantile(differences(shim, direct), 0.5), quantile(differences(more, direct), 0.5));
  const bool is_fast = judge("start, shim / direct", quantile(shim, 0.5) / quantile(direct, 0.5), k_largest_ratio, "");
  return judge("start, shim above one more library, in pairs", quantile(differences(shim, more), 0.5),
               k_most_microseconds, " us") &&
         is_fast;
}

using Function = int (*)();

constexpr const char* k_calls_mode = "--calls";  // this program in a process of its own: SHIM LIBRARY

double nanoseconds_a_call(Function function, int calls) {
  const double start = now();
  for (int i = 0; i < calls; ++i) function();
  return (now() - start) * 1e3 / calls;
}

Function function_of(const fs::path& file) {
  void* opened = ::dlopen(file.c_str(), RTLD_NOW);
  if (!opened) throw std::runtime_error(::dlerror());
  void* found = ::dlsym(opened, "cudaGetLastError");
  Dl_info info;
  if (!found || ::dladdr(found, &info) == 0 || file != info.dli_fname)
    throw std::runtime_error("cudaGetLastError is not that of " + file.string());
  return reinterpret_cast<Function>(found);
}

// By pointers of one type, in many short blocks by turns, so that what else the machine does meets both alike. Prints
// what a call takes and what the shim adds.
void measure_calls(const fs::path& shim, const fs::path& library) {
  const Function through = function_of(shim);
  if (!::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD))
    throw std::runtime_error("the shim has loaded another library than " + library.string());
  const Function direct = function_of(library);
  constexpr int k_pairs = 101;
  constexpr int k_calls = 200'000;
  nanoseconds_a_call(through, k_calls);
  std::vector<double> added;
  std::vector<double> plain;
  for (int pair = 0; pair < k_pairs; ++pair) {
    const bool is_first = pair % 2 == 0;
    const double before = nanoseconds_a_call(is_first ? direct : through, k_calls);
    const double after = nanoseconds_a_call(is_first ? through : direct, k_calls);
    plain.push_back(is_first ? before : after);
    added.push_back(is_first ? after - before : before - after);
  }
  std::printf("%f %f\n", quantile(plain, 0.5), quantile(added, 0.5));
}

// In several processes, each of which has both at other addresses: the processor likes some better than others.
bool compare_calls(const Place& place) {
  std::vector<double> plain;
  std::vector<double> added;
  for (int process = 0; process < 15; ++process) {
    const std::string figures =
        output_of({"/proc/self/exe", k_calls_mode, place.shim(), place.library()}, place.environment());
    plain.push_back(std::atof(figures.c_str()));
    added.push_back(std::atof(figures.c_str() + figures.find(' ')));
  }
  std::printf("a call: %.2f ns, of 15 processes; the shim adds %.2f to %.2f ns\n", quantile(plain, 0.5),
              quantile(added, 0.0), quantile(added, 1.0));
  return judge("a call, added by the shim, median", quantile(added, 0.5), k_most_nanoseconds, " ns");
}

bool compare(const fs::path& program, const std::optional<fs::path>& real, int rounds) {
  const Scratch scratch;
  std::printf("%s\n", real ? real->c_str() : "a stand-in");
  Place place(scratch.path(), program, real);
  const bool is_start_fast = compare_starts(place, scratch.path(), rounds);
  return compare_calls(place) && is_start_fast;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: library_shim PROGRAM [LIBCUDART [ROUNDS]]\n", stderr);
    return 2;
  }
  try {
    if (argc == 4 && std::string(argv[1]) == k_calls_mode) {
      measure_calls(argv[2], argv[3]);
      return 0;
    }
    std::optional<fs::path> real = machines_libcudart();
    const std::string named = argc > 2 ? argv[2] : "";
    if (named == "-")
      real.reset();
    else if (!named.empty())
      real = fs::absolute(named);
    return compare(fs::absolute(argv[1]), real, argc > 3 ? std::atoi(argv[3]) : 2000) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "library_shim: %s\n", error.what());
    return 2;
  }
}
