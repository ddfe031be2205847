// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.hpp"

#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "component/redist/scratch.hpp"

namespace cudaenv::base {
namespace {

// A process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const Path& path) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    m_pid = ::fork();
    if (m_pid == 0) {
      const auto lock = FileLock::try_acquire(path);
      const char byte = lock && *lock ? 'y' : 'n';
      (void)!::write(ready[1], &byte, 1);
      while (true) ::pause();
    }
    char byte = 'n';
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Holder() { kill(); }

  pid_t pid() const { return m_pid; }
  void kill() {
    if (m_pid <= 0) return;
    ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
    m_pid = 0;
  }

 private:
  pid_t m_pid = 0;
};

class Lock : public testing::Test {
 protected:
  test::Scratch m_scratch;
  Path m_path = m_scratch / ".lock";
};

TEST_F(Lock, file_is_there_while_it_is_held_and_tells_the_process) {
  {
    const auto lock = FileLock::try_acquire(m_path);
    ASSERT_TRUE(lock && *lock);
    EXPECT_EQ(test::content_of(m_path), std::to_string(::getpid()) + "\n");
  }
  EXPECT_EQ(entry_kind(m_path), EntryKind::absent);
}

TEST_F(Lock, second_one_is_refused_until_the_first_goes) {
  auto first = FileLock::try_acquire(m_path);
  ASSERT_TRUE(first && *first);
  const auto second = FileLock::try_acquire(m_path);
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  first->reset();
  const auto third = FileLock::try_acquire(m_path);
  ASSERT_TRUE(third);
  EXPECT_TRUE(*third);
}

TEST_F(Lock, moved_lock_is_still_held_once) {
  auto lock = FileLock::try_acquire(m_path);
  ASSERT_TRUE(lock && *lock);
  {
    const FileLock moved = std::move(**lock);
    lock->reset();
    EXPECT_FALSE(*FileLock::try_acquire(m_path));
  }
  EXPECT_EQ(entry_kind(m_path), EntryKind::absent);
}

TEST_F(Lock, dies_with_its_process_however_that_ends) {
  Holder holder(m_path);
  EXPECT_FALSE(*FileLock::try_acquire(m_path));
  holder.kill();
  EXPECT_EQ(entry_kind(m_path), EntryKind::file);  // left behind, and in nobody's way
  const auto lock = FileLock::try_acquire(m_path);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(*lock);
}

TEST_F(Lock, waiting_ends_when_the_holder_does) {
  Holder holder(m_path);
  const pid_t holder_pid = holder.pid();
  std::vector<long> told;
  const auto lock = FileLock::acquire(
      m_path, [&](long pid) { told.push_back(pid), holder.kill(); }, 60);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(told, std::vector<long>{holder_pid});
}

TEST_F(Lock, waiting_gives_up_and_names_the_holder) {
  const Holder holder(m_path);
  int told = 0;
  const auto lock = FileLock::acquire(
      m_path, [&](long) { ++told; }, 0);
  ASSERT_FALSE(lock);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(lock.error().kind, ErrorKind::locked);
  EXPECT_EQ(lock.error().message, m_path.native() + " is held by process " + std::to_string(holder.pid()));
}

TEST_F(Lock, DL_11_waiting_can_be_interrupted) {
  const Holder holder(m_path);
  const pid_t waiter = ::fork();
  if (waiter == 0) {
    catch_interrupts();
    const auto lock = FileLock::acquire(
        m_path, [](long) { ::raise(SIGINT); }, 60);
    ::_exit(!lock && lock.error().kind == ErrorKind::interrupted ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(waiter, &status, 0), waiter);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(Lock, link_in_its_place_is_not_followed) {
  m_scratch.file("precious", "content");
  ASSERT_TRUE(make_link("precious", m_path));
  EXPECT_FALSE(FileLock::try_acquire(m_path));
  EXPECT_EQ(test::content_of(m_scratch / "precious"), "content");
}

TEST_F(Lock, place_that_is_not_there_is_an_error) {
  const auto lock = FileLock::try_acquire(m_scratch / "absent/.lock");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::filesystem);
}

// Each holder removes the file on release; a newcomer that opened it before must notice.
TEST_F(Lock, is_exclusive_among_many) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> turns = 0;
  const auto work = [&] {
    for (int turn = 0; turn < 100;) {
      const auto lock = FileLock::try_acquire(m_path);
      if (!lock) return;
      if (!*lock) continue;
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      --inside;
      ++turn, ++turns;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 200);
  EXPECT_EQ(entry_kind(m_path), EntryKind::absent);
}

}  // namespace
}  // namespace cudaenv::base
