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
// The order matters where one error is several things: a failed encoding may hold a
// syntax error that is not the client's, a missing Unix socket is also a file that does
// not exist.
var standardMappers = mapperGroup{
	outgoing,
	MapIs(context.Canceled, Canceled),

	// The request.
	MapAs[*http.MaxBytesError](PayloadTooLarge),
	MapIs(multipart.ErrMessageTooLarge, UploadTooLarge),
	MapIs(http.ErrMissingFile, FileEmpty),
	MapIs(http.ErrNoCookie, HeaderEmpty),
	MapIs(http.ErrNotMultipart, UnsupportedMedia),
	MapIs(http.ErrMissingBoundary, UnsupportedMedia),

	// Text that does not parse, and values that cannot be written.
	MapAs[*json.MarshalerError](SerializeError),
	MapAs[*json.UnsupportedTypeError](SerializeError),
	MapAs[*json.UnsupportedValueError](SerializeError),
	MapAs[*json.SyntaxError](BodyError),
	MapAs[*json.UnmarshalTypeError](BodyType),
	numberRange,
	MapAs[*strconv.NumError](ParameterError),
	MapAs[*time.ParseError](FormatError),

	// The machine. Before the file system: a full disk is no file's fault.
	MapIs(syscall.ENOSPC, StorageError),
	MapIs(syscall.ENOMEM, MemoryError),
	MapIs(syscall.EMFILE, ResourceExhausted),
	MapIs(syscall.ENFILE, ResourceExhausted),

	// The network and the clock.
	MapIs(syscall.ECONNREFUSED, ServiceUnavailable),
	timeout,
	MapAs[*net.OpError](NetworkError),
	MapAs[*net.DNSError](NetworkError),
	MapIs(net.ErrClosed, NetworkError),
	MapIs(syscall.ECONNRESET, NetworkError),
	MapIs(syscall.EPIPE, NetworkError),

	// Files and streams.
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

	form, // last: what it knows by its text may hold one of the above
}

// outgoing maps the errors of calls to other services, which http.Client reports as
// *url.Error. They come first: what such an error wraps befell the other side, and is not
// what the client sent.
func outgoing(err error) *ErrorCode {
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

// form maps the errors of parsing a query or a form. Most of them have no type and are
// known by their text.
func form(err error) *ErrorCode {
	if _, ok := errors.AsType[url.EscapeError](err); ok {
		return ParameterError
	}
	protocol, ok := errors.AsType[textproto.ProtocolError](err)
	if ok && strings.HasPrefix(string(protocol), "malformed MIME header") {
		return BodyError // not the other errors of net/textproto, which are a mail server's
	}
	return formText(err)
}

// formText is form for the errors of net/url and mime/multipart that have no type. It
// compares the text of each error by itself: one that only quotes another is not the
// client's.
func formText(err error) *ErrorCode {
	text := err.Error()
	switch {
	case text == "invalid semicolon separator in query",
		text == "number of URL query parameters exceeded limit":
		return ParameterError
	case strings.HasPrefix(text, "multipart: "):
		return BodyError
	}
	return within(err, formText)
}

// numberRange maps the errors of strconv about numbers that do not fit.
func numberRange(err error) *ErrorCode {
	if e, ok := errors.AsType[*strconv.NumError](err); ok && errors.Is(e.Err, strconv.ErrRange) {
		return RangeError
	}
	return nil
}

// timeout maps every error that reports a timeout. The deadline was one of the service's
// own work; MarkBody tells a client that is slow to send.
func timeout(err error) *ErrorCode {
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return GatewayTimeout
	}
	return nil
}
