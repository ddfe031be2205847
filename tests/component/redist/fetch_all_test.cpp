// SPDX-License-Identifier: Apache-2.0
#include "redist/fetch_all.hpp"

#include <set>

#include <sys/stat.h>

#include "redist/digest.hpp"
#include "redist/held_archives.hpp"
#include "scratch.hpp"

namespace cudaenv::redist {
namespace {

class Observer final : public FetchObserver {
 public:
  void switching(const Error& reason) override { reasons.push_back(reason.message); }
  void started(const ArchiveJob& job) override { under_way.insert(job.component); }
  void received(const ArchiveJob& job, std::uint64_t bytes) override { EXPECT_LE(bytes, job.archive.size); }
  void finished(const ArchiveJob& job) override {
    EXPECT_EQ(under_way.erase(job.component), 1u);
    done.insert(job.component);
  }

  std::vector<std::string> reasons;
  std::set<std::string> under_way;
  std::set<std::string> done;
};

class FetchAll : public testing::Test {
 protected:
  // An archive of a few bytes that the mirrors named have.
  ArchiveJob job(const std::string& name, std::initializer_list<const test::Scratch*> mirrors) {
    const std::string bytes = "the bytes of " + name;
    for (const test::Scratch* mirror : mirrors) {
      mirror->directory(name);
      mirror->file(name + "/archive.tar.xz", bytes);
    }
    return {name, {name + "/archive.tar.xz", sha256_of(bytes), bytes.size()}, m_target / (name + ".tar.xz")};
  }

  Result<FetchTotals> fetch(const std::vector<ArchiveJob>& jobs, std::initializer_list<const test::Scratch*> mirrors) {
    std::vector<Source> sources;
    for (const test::Scratch* mirror : mirrors)
      sources.push_back(*open_source(mirror->path().native(), SourceOptions{}, "/"));
    return fetch_all(sources, jobs, m_observer);
  }

  std::vector<std::string> there() const { return *base::list_directory(m_target.path()); }

  test::Scratch m_first;
  test::Scratch m_second;
  test::Scratch m_target;
  Observer m_observer;
};

TEST_F(FetchAll, puts_each_archive_in_its_place_for_everybody_to_read) {
  const std::vector<ArchiveJob> jobs{job("nvcc", {&m_first}), job("cudart", {&m_first})};
  m_target.file("nvcc.tar.xz", "an older one");
  m_target.file("cudart.tar.xz.part", "of a run that was killed, and longer than all of it");
  const auto totals = fetch(jobs, {&m_first});
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(totals->archives, 2u);
  EXPECT_EQ(totals->bytes, jobs[0].archive.size + jobs[1].archive.size);
  EXPECT_EQ(there(), (std::vector<std::string>{"cudart.tar.xz", "nvcc.tar.xz"}));
  EXPECT_EQ(test::content_of(jobs[0].to), "the bytes of nvcc");
  struct stat info {};
  ASSERT_EQ(::stat(jobs[0].to.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_EQ(m_observer.done, (std::set<std::string>{"cudart", "nvcc"}));
  EXPECT_TRUE(m_observer.reasons.empty());
}

TEST_F(FetchAll, takes_from_the_next_source_what_the_first_lacks) {
  const std::vector<ArchiveJob> jobs{job("nvcc", {&m_second}), job("cudart", {&m_first})};
  const auto totals = fetch(jobs, {&m_first, &m_second});
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(totals->archives, 2u);
  ASSERT_EQ(m_observer.reasons.size(), 1u);
  EXPECT_NE(m_observer.reasons[0].find(m_first.path().native()), std::string::npos);
}

TEST_F(FetchAll, of_what_nobody_has_is_an_error) {
  const auto totals = fetch({job("nvcc", {})}, {&m_first, &m_second});
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().kind, ErrorKind::not_found);
  EXPECT_TRUE(m_observer.done.empty());
}

TEST_F(FetchAll, never_puts_damage_in_place) {
  ArchiveJob damaged = job("nvcc", {&m_first});
  damaged.archive.sha256 = std::string(64, '0');
  m_target.file("nvcc.tar.xz", "an older one");
  const auto totals = fetch({damaged}, {&m_first});
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().kind, ErrorKind::integrity);
  EXPECT_EQ(test::content_of(damaged.to), "an older one");
}

TEST_F(FetchAll, of_nothing_asks_nobody) {
  const auto totals = fetch({}, {&m_first});
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->archives, 0u);
}

// --- What is there already ---

TEST_F(FetchAll, examines_what_is_there) {
  const std::vector<ArchiveJob> jobs{job("whole", {}), job("absent", {}), job("short", {}), job("altered", {}),
                                     job("directory", {})};
  m_target.file("whole.tar.xz", "the bytes of whole");
  m_target.file("short.tar.xz", "the bytes");
  m_target.file("altered.tar.xz", "the bytes of Altered");
  m_target.directory("directory.tar.xz");
  const auto held = examine(jobs);
  ASSERT_TRUE(held);
  ASSERT_EQ(held->size(), 5u);
  EXPECT_EQ((*held)[0].holding, Holding::whole);
  EXPECT_EQ((*held)[1].holding, Holding::absent);
  EXPECT_EQ((*held)[2].damage, "9 bytes instead of 18");
  EXPECT_EQ((*held)[3].damage, "its sha256 is another one");
  EXPECT_EQ((*held)[4].damage, "it is not a file");
}

TEST_F(FetchAll, examines_more_than_there_are_threads) {
  std::vector<ArchiveJob> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(job(std::to_string(i), {}));
    if (i % 3 != 0) m_target.file(std::to_string(i) + ".tar.xz", "the bytes of " + std::to_string(i));
  }
  const auto held = examine(jobs);
  ASSERT_TRUE(held);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ((*held)[static_cast<std::size_t>(i)].holding, i % 3 != 0 ? Holding::whole : Holding::absent) << i;
  EXPECT_TRUE(examine({})->empty());
}

}  // namespace
}  // namespace cudaenv::redist
