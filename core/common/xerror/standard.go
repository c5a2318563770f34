package xerror

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// standardMappers map the errors of the standard library.
//
// The order matters if an error matches several mappers. A failed encoding may wrap a
// syntax error that the client did not cause, and a missing Unix socket is also a missing
// file.
var standardMappers = mapperGroup{
	outgoingCall,
	MapIs(context.Canceled, Canceled),

	// requests
	MapAs[*http.MaxBytesError](PayloadTooLarge),
	MapIs(multipart.ErrMessageTooLarge, UploadTooLarge),
	MapIs(http.ErrMissingFile, FileEmpty),
	MapIs(http.ErrNoCookie, HeaderEmpty),
	MapIs(http.ErrNotMultipart, UnsupportedMedia),
	MapIs(http.ErrMissingBoundary, UnsupportedMedia),

	// parsing and encoding
	MapAs[*json.MarshalerError](SerializeError),
	MapAs[*json.UnsupportedTypeError](SerializeError),
	MapAs[*json.UnsupportedValueError](SerializeError),
	MapAs[*json.SyntaxError](BodyError),
	MapAs[*json.UnmarshalTypeError](BodyType),
	numberRange,
	MapAs[*strconv.NumError](ParameterError),
	MapAs[*time.ParseError](FormatError),

	// system resources; before files, because a full disk is not an error of the file
	MapIs(syscall.ENOSPC, StorageError),
	MapIs(syscall.ENOMEM, MemoryError),
	MapIs(syscall.EMFILE, ResourceExhausted),
	MapIs(syscall.ENFILE, ResourceExhausted),

	// network and timeouts
	MapIs(syscall.ECONNREFUSED, ServiceUnavailable),
	timeout,
	MapAs[*net.OpError](NetworkError),
	MapAs[*net.DNSError](NetworkError),
	MapIs(net.ErrClosed, NetworkError),
	MapIs(syscall.ECONNRESET, NetworkError),
	MapIs(syscall.EPIPE, NetworkError),

	// files and streams
	MapIs(fs.ErrNotExist, NotExist),
	MapIs(fs.ErrExist, Existed),
	MapIs(fs.ErrPermission, PermissionDenied),
	MapAs[*fs.PathError](FileError),
	MapAs[*os.LinkError](FileError),
	MapIs(fs.ErrClosed, FileError),
	MapIs(io.ErrClosedPipe, IoError),
	MapIs(io.ErrShortWrite, IoError),
	MapIs(io.ErrNoProgress, IoError),

	MapIs(errors.ErrUnsupported, UnsupportedOp),

	formError, // last, because an error that is matched by its text may wrap one of the above
}

// outgoingCall maps the errors of calls to other services, which http.Client reports as
// *url.Error. It runs first, because the wrapped error is not about the client's request.
func outgoingCall(err error) *ErrorCode {
	e, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return nil
	case e.Op == "parse":
		return FormatError
	case errors.Is(err, context.Canceled):
		return Canceled
	case e.Err != nil && e.Timeout():
		return UpstreamTimeout
	default:
		return RemoteError
	}
}

// formError maps the errors of parsing a query or a form. Most of them have no type and
// are matched by their text.
func formError(err error) *ErrorCode {
	if _, ok := errors.AsType[url.EscapeError](err); ok {
		return ParameterError
	}
	protocol, ok := errors.AsType[textproto.ProtocolError](err)
	if ok && strings.HasPrefix(string(protocol), "malformed MIME header") {
		return BodyError // other errors of net/textproto come from mail servers
	}
	return formText(err)
}

// formText matches the untyped errors of net/url and mime/multipart. It compares the text
// of each wrapped error separately, because an error may quote another one.
func formText(err error) *ErrorCode {
	text := err.Error()
	switch {
	case text == "invalid semicolon separator in query",
		text == "number of URL query parameters exceeded limit":
		return ParameterError
	case strings.HasPrefix(text, "multipart: "):
		return BodyError
	}
	return firstWrapped(err, formText)
}

func numberRange(err error) *ErrorCode {
	if e, ok := errors.AsType[*strconv.NumError](err); ok && errors.Is(e.Err, strconv.ErrRange) {
		return RangeError
	}
	return nil
}

// timeout maps all timeouts to GatewayTimeout: the service or a dependency was too slow.
// MarkBody distinguishes slow clients.
func timeout(err error) *ErrorCode {
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return GatewayTimeout
	}
	return nil
}
