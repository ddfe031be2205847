// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include "core/fixed_text.hpp"

namespace cudaenv::raw {

// The words of libc in the C locale for what opening, reading and starting files may fail of. Texts in place, not
// pointers to them, which would have to be relocated in a library.
struct ErrorWords {
  short number;
  char words[46];
};

// clang-format off
inline constexpr ErrorWords k_error_words[] = {
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {EINTR, "Interrupted system call"},
    {EIO, "Input/output error"},
    {ENXIO, "No such device or address"},
    {E2BIG, "Argument list too long"},
    {ENOEXEC, "Exec format error"},
    {EBADF, "Bad file descriptor"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EFAULT, "Bad address"},
    {EBUSY, "Device or resource busy"},
    {ENODEV, "No such device"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {ENFILE, "Too many open files in system"},
    {EMFILE, "Too many open files"},
    {ETXTBSY, "Text file busy"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {EROFS, "Read-only file system"},
    {EDEADLK, "Resource deadlock avoided"},
    {ENAMETOOLONG, "File name too long"},
    {ENOLCK, "No locks available"},
    {ENOSYS, "Function not implemented"},
    {ELOOP, "Too many levels of symbolic links"},
    {ENODATA, "No data available"},
    {ETIME, "Timer expired"},
    {ENOLINK, "Link has been severed"},
    {EPROTO, "Protocol error"},
    {EBADMSG, "Bad message"},
    {EOVERFLOW, "Value too large for defined data type"},
    {ELIBBAD, "Accessing a corrupted shared library"},
    {EOPNOTSUPP, "Operation not supported"},
    {ENETDOWN, "Network is down"},
    {ENETUNREACH, "Network is unreachable"},
    {ECONNABORTED, "Software caused connection abort"},
    {ECONNRESET, "Connection reset by peer"},
    {ENOTCONN, "Transport endpoint is not connected"},
    {ESHUTDOWN, "Cannot send after transport endpoint shutdown"},
    {ETIMEDOUT, "Connection timed out"},
    {ECONNREFUSED, "Connection refused"},
    {EHOSTDOWN, "Host is down"},
    {EHOSTUNREACH, "No route to host"},
    {ESTALE, "Stale file handle"},
    {EUCLEAN, "Structure needs cleaning"},
    {EREMOTEIO, "Remote I/O error"},
    {EDQUOT, "Disk quota exceeded"},
    {ENOMEDIUM, "No medium found"},
    {EMEDIUMTYPE, "Wrong medium type"},
    {ECANCELED, "Operation canceled"},
    {ENOKEY, "Required key not available"},
    {EKEYEXPIRED, "Key has expired"},
    {EKEYREVOKED, "Key has been revoked"},
    {EKEYREJECTED, "Key was rejected by service"},
};
// clang-format on

using ErrorText = core::FixedText<64>;

// As strerror.
inline ErrorText error_text(int error) {
  for (const ErrorWords& row : k_error_words)
    if (row.number == error) return ErrorText(row.words);
  ErrorText text("Unknown error ");
  text.append_number(static_cast<unsigned>(error));
  return text;
}

}  // namespace cudaenv::raw
