// SPDX-License-Identifier: Apache-2.0
#include "store/in_use.hpp"

#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "component/redist/scratch.hpp"

namespace cudaenv::store {
namespace {

// A program of the directory that runs until the test ends.
class Running {
 public:
  explicit Running(const base::Path& program) {
    std::filesystem::copy_file("/bin/sleep", program);
    int started[2];
    EXPECT_EQ(::pipe2(started, O_CLOEXEC), 0);
    m_id = ::fork();
    if (m_id == 0) {
      ::execl(program.c_str(), program.c_str(), "60", nullptr);
      ::_exit(127);
    }
    ::close(started[1]);
    char byte;
    EXPECT_EQ(::read(started[0], &byte, 1), 0);  // exec has closed the other end
    ::close(started[0]);
  }
  ~Running() {
    ::kill(m_id, SIGKILL);
    ::waitpid(m_id, nullptr, 0);
  }
  long id() const { return m_id; }

 private:
  pid_t m_id;
};

class InUse : public testing::Test {
 protected:
  test::Scratch m_scratch;
};

TEST_F(InUse, a_program_below_the_directory_is_named) {
  const base::Path directory = m_scratch.directory("kit");
  ASSERT_TRUE(base::make_directories(directory / "bin"));
  const Running tool(directory / "bin" / "cuda-gdb");
  const auto process = process_using(directory);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->id, tool.id());
  EXPECT_EQ(process->name, "cuda-gdb");
  EXPECT_FALSE(process->is_ancestor);
}

TEST_F(InUse, through_a_link_too) {
  const Running tool(m_scratch.directory("kit") / "nvcc");
  ASSERT_TRUE(base::make_link(m_scratch / "kit", m_scratch / "link"));
  EXPECT_TRUE(process_using(m_scratch / "link"));
}

TEST_F(InUse, nothing_of_another_or_of_no_directory) {
  const Running tool(m_scratch.directory("kit-2") / "nvcc");
  EXPECT_FALSE(process_using(m_scratch.directory("kit")));
  EXPECT_FALSE(process_using(m_scratch / "absent"));
}

TEST_F(InUse, an_ancestor_comes_before_others) {
  const auto parent = base::link_target(base::Path("/proc") / std::to_string(::getppid()) / "exe");
  if (!parent) GTEST_SKIP() << "what started this test cannot be seen";
  const auto process = process_using(parent->parent_path());
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->is_ancestor);
}

}  // namespace
}  // namespace cudaenv::store
