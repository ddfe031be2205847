// SPDX-License-Identifier: Apache-2.0
#include "redist/xz_decoder.hpp"

#include <string>

#include <lzma.h>

namespace cudaenv::redist {

struct XzDecoder::Stream {
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ::lzma_end(&decoder); }

  lzma_stream decoder = LZMA_STREAM_INIT;
  std::vector<char> input = std::vector<char>(k_block_size);
  std::vector<char> output = std::vector<char>(k_block_size);
  lzma_action action = LZMA_RUN;
  bool is_at_end = false;
};

namespace {

std::string_view words(lzma_ret status) {
  switch (status) {
    case LZMA_FORMAT_ERROR: return "is no xz file";
    case LZMA_OPTIONS_ERROR: return "is packed in a way that this liblzma does not know";
    case LZMA_MEMLIMIT_ERROR: return "needs more memory to unpack than any honest archive";
    case LZMA_BUF_ERROR: return "ends too early";
    default: return "is broken: its xz data are damaged";
  }
}

}  // namespace

XzDecoder::XzDecoder(const ReadBytes& input, std::unique_ptr<Stream> stream)
    : m_input(&input), m_stream(std::move(stream)) {}
XzDecoder::XzDecoder(XzDecoder&&) noexcept = default;
XzDecoder::~XzDecoder() = default;

bool XzDecoder::fits(std::string_view beginning) {
  constexpr std::string_view k_magic(
      "\xFD"
      "7zXZ\0",
      6);
  return beginning.starts_with(k_magic);
}

Result<XzDecoder> XzDecoder::open(const ReadBytes& input, unsigned threads) {
  auto stream = std::make_unique<Stream>();
#if LZMA_VERSION >= UINT32_C(50040002)
  lzma_mt options{};
  options.flags = LZMA_CONCATENATED;
  options.threads = threads == 0 ? 1 : threads;
  options.memlimit_threading = threads <= 1 ? 1 : threads * k_memory_a_thread;
  options.memlimit_stop = k_most_memory;
  const lzma_ret status = ::lzma_stream_decoder_mt(&stream->decoder, &options);
#else
  (void)threads;
  const lzma_ret status = ::lzma_stream_decoder(&stream->decoder, k_most_memory, LZMA_CONCATENATED);
#endif
  if (status != LZMA_OK) return fail(ErrorKind::internal, "not enough memory to unpack xz");
  return XzDecoder(input, std::move(stream));
}

Result<std::string_view> XzDecoder::next() {
  Stream& stream = *m_stream;
  lzma_stream& decoder = stream.decoder;
  decoder.next_out = reinterpret_cast<std::uint8_t*>(stream.output.data());
  decoder.avail_out = stream.output.size();
  while (!stream.is_at_end && decoder.avail_out > 0) {
    if (decoder.avail_in == 0 && stream.action == LZMA_RUN) {
      CUDAENV_TRY(got, (*m_input)(stream.input));
      decoder.next_in = reinterpret_cast<const std::uint8_t*>(stream.input.data());
      decoder.avail_in = got;
      if (got == 0) stream.action = LZMA_FINISH;
    }
    const lzma_ret status = ::lzma_code(&decoder, stream.action);
    if (status == LZMA_STREAM_END) stream.is_at_end = true;
    if (status == LZMA_MEM_ERROR) return fail(ErrorKind::internal, "not enough memory to unpack xz");
    if (status != LZMA_OK && status != LZMA_STREAM_END) return fail(ErrorKind::integrity, std::string(words(status)));
  }
  return std::string_view(stream.output.data(), stream.output.size() - decoder.avail_out);
}

}  // namespace cudaenv::redist
