// SPDX-License-Identifier: Apache-2.0
#include "core/env_plan.hpp"

#include <map>
#include <random>

#include "base/text.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using base::Environment;
using Variables = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

const Texts k_roots = {"/home/u/.cudaenv", "/opt/cudaenv"};
const ActiveToolkit k_a{"12.4.1", "/home/u/.cudaenv/versions/12.4.1", true};
const ActiveToolkit k_b{"13.0.2", "/opt/cudaenv/versions/13.0.2", true};
const std::string k_shims = "/home/u/.cudaenv/shims/lib";

Environment environment_of(const Variables& variables) { return Environment({variables.begin(), variables.end()}); }

Variables variables_of(const Environment& environment) {
  return {environment.variables().begin(), environment.variables().end()};
}

Environment after(const Environment& environment, const std::optional<ActiveToolkit>& toolkit,
                  const EnvironmentSettings& settings = {}) {
  Environment changed = environment;
  apply(plan_environment(environment, toolkit, k_roots, settings), changed);
  return changed;
}

// --- What is set ---

TEST(EnvPlan, entering_sets_what_builds_look_for) {
  const Environment inside = after(environment_of({{"PATH", "/usr/bin:/bin"}}), k_a, {.has_library_shims = true});
  EXPECT_EQ(variables_of(inside), (Variables{{"CUDAENV_ACTIVE", "12.4.1"},
                                             {"CUDACXX", k_a.directory + "/bin/nvcc"},
                                             {"CUDA_HOME", k_a.directory},
                                             {"CUDA_PATH", k_a.directory},
                                             {"CUDAToolkit_ROOT", k_a.directory},
                                             {"LD_LIBRARY_PATH", k_shims},
                                             {"PATH", k_a.directory + "/bin:/usr/bin:/bin"}}));
}

TEST(EnvPlan, without_a_toolkit_nothing_changes) {
  const Environment outside = environment_of({{"PATH", "/bin"}, {"CUDA_HOME", "/usr/local/cuda"}, {"CPATH", ""}});
  EXPECT_TRUE(plan_environment(outside, std::nullopt, k_roots, {}).changes.empty());
}

struct SetRow {
  const char* name;
  const char* variable;
  std::optional<std::string> before;
  EnvironmentSettings settings;
  std::optional<std::string> inside;
};

class EnvironmentInside : public testing::TestWithParam<SetRow> {};

TEST_P(EnvironmentInside, has_the_variable_as_it_should_be) {
  const SetRow& row = GetParam();
  Environment outside;
  if (row.before) outside.set(row.variable, *row.before);
  const Environment inside = after(outside, k_a, row.settings);
  const auto value = inside.get(row.variable);
  EXPECT_EQ(value ? std::optional<std::string>(*value) : std::nullopt, row.inside);
}

const std::string k_dir = k_a.directory;
constexpr EnvironmentSettings k_plain{};
constexpr EnvironmentSettings k_with_shims{.has_library_shims = true};
constexpr EnvironmentSettings k_toolkit{.library_path = LibraryPath::toolkit};
constexpr EnvironmentSettings k_none{.library_path = LibraryPath::none, .has_library_shims = true};
constexpr EnvironmentSettings k_paths{.compiler_paths = true};
constexpr EnvironmentSettings k_paths_13{.compiler_paths = true, .has_cccl_include = true};

const SetRow k_set_rows[] = {
    {"library_shims", "LD_LIBRARY_PATH", std::nullopt, k_with_shims, k_shims},
    {"library_shims_before_the_users", "LD_LIBRARY_PATH", "/x:/y", k_with_shims, k_shims + ":/x:/y"},
    {"library_shims_once", "LD_LIBRARY_PATH", "/x:" + k_shims, k_with_shims, k_shims + ":/x"},
    {"no_library_shims_yet", "LD_LIBRARY_PATH", std::nullopt, k_plain, std::nullopt},
    {"library_path_of_the_toolkit", "LD_LIBRARY_PATH", "/x", k_toolkit, k_dir + "/lib:/x"},
    {"library_path_off", "LD_LIBRARY_PATH", "/x", k_none, "/x"},
    {"library_path_off_and_unset", "LD_LIBRARY_PATH", std::nullopt, k_none, std::nullopt},
    {"library_path_off_and_empty", "LD_LIBRARY_PATH", "", k_none, ""},
    {"empty_list_gets_no_empty_element", "LD_LIBRARY_PATH", "", k_toolkit, k_dir + "/lib"},
    {"empty_elements_of_the_user_stay", "LD_LIBRARY_PATH", ":/x::", k_toolkit, k_dir + "/lib::/x::"},
    {"path_entry_is_not_doubled", "PATH", "/bin:" + k_dir + "/bin", k_plain, k_dir + "/bin:/bin"},
    {"path_unset_keeps_the_usual_one", "PATH", std::nullopt, k_plain, k_dir + "/bin:/bin:/usr/bin"},
    {"path_set_to_nothing", "PATH", "", k_plain, k_dir + "/bin"},
    {"compiler_of_the_user", "CUDACXX", "/usr/bin/clang++", k_plain, "/usr/bin/clang++"},
    {"compiler_of_the_user_from_another_toolkit", "CUDACXX", k_b.directory + "/bin/nvcc", k_plain,
     k_b.directory + "/bin/nvcc"},
    {"compiler_set_to_nothing", "CUDACXX", "", k_plain, k_dir + "/bin/nvcc"},
    {"home_of_another_toolkit", "CUDA_HOME", "/usr/local/cuda", k_plain, k_dir},
    {"compiler_paths_off", "CPATH", "/x", k_plain, "/x"},
    {"compiler_paths_headers", "CPATH", "/x", k_paths, k_dir + "/include:/x"},
    {"compiler_paths_headers_of_13", "CPATH", std::nullopt, k_paths_13, k_dir + "/include:" + k_dir + "/include/cccl"},
    {"compiler_paths_stubs_come_last", "LIBRARY_PATH", "/x", k_paths, k_dir + "/lib:/x:" + k_dir + "/lib/stubs"},
    {"compiler_paths_of_nothing", "LIBRARY_PATH", "", k_paths, k_dir + "/lib:" + k_dir + "/lib/stubs"},
};

INSTANTIATE_TEST_SUITE_P(Rows, EnvironmentInside, testing::ValuesIn(k_set_rows), test::RowName());

TEST(EnvPlan, toolkit_without_nvcc_sets_no_compiler) {
  ActiveToolkit toolkit = k_a;
  toolkit.has_nvcc = false;
  EXPECT_EQ(after({}, toolkit).get("CUDACXX"), std::nullopt);
  EXPECT_EQ(after(after({}, k_b), toolkit).get("CUDACXX"), std::nullopt);
}

TEST(EnvPlan, says_what_a_toolkit_needs_even_where_it_is_so_already) {
  const Environment inside = after(environment_of({{"PATH", "/bin"}}), k_a);
  Texts names;
  for (const auto& [name, value] : plan_environment(inside, k_a, k_roots, {}).changes) names.push_back(name);
  EXPECT_EQ(names, (Texts{"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "PATH", "CUDAENV_ACTIVE"}));
}

// --- Leaving gives back what was there ---

struct LeaveRow {
  const char* name;
  Variables outside;
};

class Leaving : public testing::TestWithParam<LeaveRow> {};

TEST_P(Leaving, gives_back_exactly_what_was_there) {
  const Variables& variables = GetParam().outside;
  const Environment outside = environment_of(variables);
  for (const EnvironmentSettings& settings : {k_with_shims, k_toolkit, k_none, k_paths_13}) {
    const Environment in_a = after(outside, k_a, settings);
    const Environment in_b = after(in_a, k_b, settings);
    EXPECT_EQ(variables_of(after(in_a, std::nullopt, settings)), variables);
    EXPECT_EQ(variables_of(after(in_b, std::nullopt, settings)), variables);
    EXPECT_EQ(variables_of(after(in_b, std::nullopt, k_plain)), variables) << "whatever the settings are by then";
    EXPECT_EQ(variables_of(in_b), variables_of(after(outside, k_b, settings)));
  }
}

const LeaveRow k_leave_rows[] = {
    {"nothing_set", {}},
    {"usual", {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/home/u"}}},
    {"lists_empty_but_set", {{"PATH", ""}, {"LD_LIBRARY_PATH", ""}, {"CPATH", ""}, {"LIBRARY_PATH", ""}}},
    {"empty_elements", {{"PATH", ":/bin:"}, {"LD_LIBRARY_PATH", ":"}, {"CPATH", "::"}, {"LIBRARY_PATH", "/x::/y"}}},
    {"order_and_doubles", {{"PATH", "/b:/a:/b:/bin"}, {"LD_LIBRARY_PATH", "/z:/y:/z"}}},
    {"another_toolkit",
     {{"CUDA_HOME", "/usr/local/cuda"}, {"CUDA_PATH", "/usr/local/cuda"}, {"CUDAToolkit_ROOT", "/x"}}},
    {"scalars_empty_but_set", {{"CUDA_HOME", ""}, {"CUDA_PATH", ""}, {"CUDACXX", ""}}},
    {"compiler_of_the_user", {{"CUDACXX", "/usr/bin/clang++"}}},
    {"values_that_look_like_bookkeeping", {{"CUDA_HOME", "a=b;CUDA_PATH=%3B\n\x7f"}, {"CUDA_PATH", "%"}}},
    {"entries_of_the_user_that_look_like_ours",
     {{"PATH", "/bin:" + k_a.directory + "/bin:" + k_b.directory + "/bin:/sbin"},
      {"LD_LIBRARY_PATH", "/x:" + k_shims},
      {"CUDACXX", k_b.directory + "/bin/nvcc"},
      {"CUDA_HOME", k_a.directory}}},
    {"place_with_a_similar_name",
     {{"PATH", "/home/u/.cudaenv/versions-old/bin:/home/u/.cudaenv/bin:/home/u/.cudaenv/shims"}}},
};

INSTANTIATE_TEST_SUITE_P(Rows, Leaving, testing::ValuesIn(k_leave_rows), test::RowName());

// --- What the user changes meanwhile stays ---

TEST(EnvPlan, what_the_user_changed_meanwhile_stays) {
  const Environment outside = environment_of({{"PATH", "/bin"}, {"CUDA_HOME", "/old"}, {"LD_LIBRARY_PATH", ""}});
  Environment inside = after(outside, k_a, k_with_shims);
  inside.set("PATH", "/venv/bin:" + std::string(inside.value("PATH")) + ":/sbin");
  inside.set("CUDA_HOME", "/new");
  inside.set("LD_LIBRARY_PATH", std::string(inside.value("LD_LIBRARY_PATH")) + ":/mine");
  inside.unset("CUDA_PATH");
  inside.set("CUDACXX", "/usr/bin/clang++");
  EXPECT_EQ(variables_of(after(inside, std::nullopt)), (Variables{{"PATH", "/venv/bin:/bin:/sbin"},
                                                                  {"CUDA_HOME", "/new"},
                                                                  {"LD_LIBRARY_PATH", "/mine"},
                                                                  {"CUDACXX", "/usr/bin/clang++"}}));
  const Environment in_b = after(inside, k_b, k_with_shims);
  EXPECT_EQ(in_b.value("PATH"), k_b.directory + "/bin:/venv/bin:/bin:/sbin");
  EXPECT_EQ(in_b.value("CUDACXX"), "/usr/bin/clang++");
}

TEST(EnvPlan, list_that_the_user_unset_meanwhile_stays_unset) {
  Environment inside = after(environment_of({{"LD_LIBRARY_PATH", ""}}), k_a, k_with_shims);
  inside.unset("LD_LIBRARY_PATH");
  EXPECT_EQ(after(inside, std::nullopt).get("LD_LIBRARY_PATH"), std::nullopt);
}

TEST(EnvPlan, broken_bookkeeping_harms_nothing) {
  for (const char* memory : {"", ";", "=", "PATH", "PATH=%", "PATH=%G0", "CUDA_HOME=%4", "HOME=/x", "PATH=/evil;",
                             "\x1b", ";.", "=;.", "PATH=%;.", "PATH=%G0;.", "CUDA_HOME=%4;.", "HOME=/x;."}) {
    Environment inside = after(environment_of({{"PATH", "/bin"}, {"HOME", "/home/u"}}), k_a);
    inside.set("CUDAENV_OUTSIDE", memory);
    EXPECT_EQ(variables_of(after(inside, std::nullopt)), (Variables{{"PATH", "/bin"}, {"HOME", "/home/u"}})) << memory;
  }
}

TEST(EnvPlan, bookkeeping_that_was_cut_off_gives_back_nothing) {
  const Environment outside = environment_of({{"PATH", "/bin"}, {"CUDA_HOME", "/opt/x;y"}, {"CPATH", ""}});
  Environment inside = after(outside, k_a, {.compiler_paths = true});
  const std::string whole(inside.value("CUDAENV_OUTSIDE"));
  EXPECT_EQ(variables_of(after(inside, std::nullopt)), variables_of(outside));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    inside.set("CUDAENV_OUTSIDE", whole.substr(0, size));
    EXPECT_EQ(variables_of(after(inside, std::nullopt)), (Variables{{"PATH", "/bin"}})) << whole.substr(0, size);
  }
}

// --- Random environments ---

std::optional<std::string> random_list(std::mt19937& random) {
  static const Texts k_elements = {"",
                                   "",
                                   "/bin",
                                   "/usr/bin",
                                   "/x y",
                                   "/bin",
                                   "/home/u/.cudaenv/shims",
                                   k_shims,
                                   k_b.directory + "/bin",
                                   k_dir + "/lib"};
  const auto count = random() % 7;
  if (count == 0) return std::nullopt;
  Texts elements;
  for (unsigned i = 1; i < count; ++i) elements.push_back(k_elements[random() % k_elements.size()]);
  return base::join(elements, ":");
}

TEST(EnvPlan, holds_for_random_environments) {
  std::mt19937 random(20260131);
  const auto count = [](std::string_view list, std::string_view element) {
    const auto parts = base::split(list, ':');
    return list.empty() ? 0 : std::count(parts.begin(), parts.end(), element);
  };
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    Environment outside;
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"})
      if (const auto value = random_list(random)) outside.set(name, *value);
    for (const char* name : {"CUDA_HOME", "CUDACXX"})
      if (const auto value = random_list(random)) outside.set(name, *value);
    const EnvironmentSettings settings{static_cast<LibraryPath>(random() % 3), random() % 2 == 0, random() % 2 == 0,
                                       random() % 2 == 0};
    const Environment in_a = after(outside, k_a, settings);
    ASSERT_EQ(variables_of(after(in_a, k_a, settings)), variables_of(in_a));
    ASSERT_EQ(variables_of(after(in_a, k_b, settings)), variables_of(after(outside, k_b, settings)));
    ASSERT_EQ(variables_of(after(after(in_a, k_b, settings), k_a, settings)), variables_of(in_a));
    ASSERT_EQ(variables_of(after(in_a, std::nullopt, settings)), variables_of(outside));
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"}) {
      ASSERT_LE(count(in_a.value(name), ""), count(outside.value(name), "")) << name << "=" << in_a.value(name);
      for (const std::string& ours : {k_dir + "/bin", k_dir + "/lib", k_dir + "/include", k_dir + "/lib/stubs"})
        ASSERT_LE(count(in_a.value(name), ours), std::max<long>(1, count(outside.value(name), ours))) << name;
    }
    ASSERT_EQ(count(in_a.value("LD_LIBRARY_PATH"), k_dir + "/lib/stubs"), 0);
  }
}

}  // namespace
}  // namespace cudaenv::core
