package xerror_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	xError "github.com/plinthgo/plinth/core/common/xerror"
)

func errOf(_ any, err error) error { return err }

// timedOut is a network error that ran out of time.
type timedOut struct{}

func (timedOut) Error() string   { return "i/o timeout" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

// badMarshaler writes what is no JSON.
type badMarshaler struct{}

func (badMarshaler) MarshalJSON() ([]byte, error) { return []byte(`{"a":`), nil }

func opError(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }

func urlError(err error) error {
	return &url.Error{Op: "Get", URL: "http://internal.example/secret", Err: err}
}

func tooLarge() error {
	_, err := io.ReadAll(http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(strings.NewReader("too long")), 3))
	return err
}

func formFile(ctx context.Context, contentType string) error {
	body := "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--b--\r\n"
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	_, _, err := r.FormFile("file")
	return err
}

func TestErrorsOfTheStandardLibraryHaveCodes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var number int
	for _, tc := range []struct {
		name string
		err  error
		want *xError.ErrorCode
	}{
		{"deadline", context.DeadlineExceeded, xError.GatewayTimeout},
		{"canceled", context.Canceled, xError.Canceled},
		{"os deadline", os.ErrDeadlineExceeded, xError.GatewayTimeout},

		{"missing file", errOf(os.Open(filepath.Join(dir, "none"))), xError.NotExist},
		{"file that exists", os.Mkdir(dir, 0o700), xError.Existed},
		{"permission", &fs.PathError{Op: "open", Path: "/etc/shadow", Err: syscall.EACCES}, xError.PermissionDenied},
		{"a file as a folder", errOf(os.ReadDir(file)), xError.FileError},
		{"link", os.Link(file, filepath.Join(dir, "none", "x")), xError.NotExist},
		{"link elsewhere", &os.LinkError{Op: "link", Err: syscall.EXDEV}, xError.FileError},
		{"closed file", fs.ErrClosed, xError.FileError},
		{"disk full", &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, xError.StorageError},
		{"no memory", syscall.ENOMEM, xError.MemoryError},
		{"too many open files", &fs.PathError{Op: "open", Path: "/x", Err: syscall.EMFILE}, xError.ResourceExhausted},
		{"too many files in the system", syscall.ENFILE, xError.ResourceExhausted},
		{"unsupported by a file system", &fs.PathError{Op: "x", Path: "/x", Err: errors.ErrUnsupported}, xError.FileError},

		{"body too large", tooLarge(), xError.PayloadTooLarge},
		{"form too large", multipart.ErrMessageTooLarge, xError.UploadTooLarge},
		{"no file in the form", formFile(t.Context(), "multipart/form-data; boundary=b"), xError.FileEmpty},
		{"no form", formFile(t.Context(), "text/plain"), xError.UnsupportedMedia},
		{"form without a boundary", formFile(t.Context(), "multipart/form-data"), xError.UnsupportedMedia},
		{"no cookie", http.ErrNoCookie, xError.HeaderEmpty},
		{"no HTTP/2 push", http.ErrNotSupported, xError.UnsupportedOp},

		{"JSON syntax", json.Unmarshal([]byte(`{`), &number), xError.BodyError},
		{"JSON type", json.Unmarshal([]byte(`"x"`), &number), xError.BodyType},
		{"JSON that cannot be written", errOf(json.Marshal([]any{make(chan int)})), xError.SerializeError},
		{"JSON value that cannot be written", errOf(json.Marshal(math.Inf(1))), xError.SerializeError},
		{"syntax error of our own encoder", errOf(json.Marshal(badMarshaler{})), xError.SerializeError},
		{"JSON into nothing", &json.InvalidUnmarshalError{}, xError.ServerInternalError},
		{"number", errOf(strconv.Atoi("x")), xError.ParameterError},
		{"number out of range", errOf(strconv.ParseInt("999", 10, 8)), xError.RangeError},
		{"time", errOf(time.Parse(time.DateOnly, "x")), xError.FormatError},
		{"URL", errOf(url.ParseRequestURI("x")), xError.FormatError},

		{"refused", opError("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), xError.ServiceUnavailable},
		{"bare refused", syscall.ECONNREFUSED, xError.ServiceUnavailable},
		{"dial timeout", opError("dial", timedOut{}), xError.GatewayTimeout},
		{"read timeout", opError("read", os.ErrDeadlineExceeded), xError.GatewayTimeout},
		{"write timeout", opError("write", os.ErrDeadlineExceeded), xError.GatewayTimeout},
		{"other timeout", opError("accept", timedOut{}), xError.GatewayTimeout},
		{"timeout without an operation", timedOut{}, xError.GatewayTimeout},
		{"reset", opError("read", syscall.ECONNRESET), xError.NetworkError},
		{"bare reset", syscall.ECONNRESET, xError.NetworkError},
		{"broken pipe", syscall.EPIPE, xError.NetworkError},
		{"closed connection", net.ErrClosed, xError.NetworkError},
		{"unknown host", &net.DNSError{Err: "no such host", Name: "db.internal", IsNotFound: true}, xError.NetworkError},
		{"missing socket", opError("dial", os.NewSyscallError("connect", syscall.ENOENT)), xError.NetworkError},

		{"call refused", urlError(opError("dial", syscall.ECONNREFUSED)), xError.RemoteError},
		{"call timed out", urlError(timedOut{}), xError.UpstreamTimeout},
		{"call past the deadline", urlError(context.DeadlineExceeded), xError.UpstreamTimeout},
		{"call canceled", urlError(context.Canceled), xError.Canceled},
		{"call without a reason", urlError(nil), xError.RemoteError},

		{"closed pipe", io.ErrClosedPipe, xError.IoError},
		{"short write", io.ErrShortWrite, xError.IoError},
		{"no progress", io.ErrNoProgress, xError.IoError},
		{"unsupported", errors.ErrUnsupported, xError.UnsupportedOp},

		{"broken escape", url.EscapeError("%zz"), xError.ParameterError},
		{"part with a broken header", textproto.ProtocolError("malformed MIME header line: X: a\x00"), xError.BodyError},
		{"mail server", textproto.ProtocolError("short response: "), xError.ServerInternalError},
		{"semicolon", queryError("a;b"), xError.ParameterError},
		{"too many parameters", queryError(strings.Repeat("a&", 10_001)), xError.ParameterError},
		{"no form", partError("hello"), xError.BodyError},
		{"form with a wrong boundary", fmt.Errorf("upload: %w", partError("--x\r\n\r\n--x-\r\n")), xError.BodyError},

		{"end of file", io.EOF, xError.ServerInternalError},
		{"unexpected end of file", io.ErrUnexpectedEOF, xError.ServerInternalError},
		{"line too long", bufio.ErrTooLong, xError.ServerInternalError},
		{"unknown", errors.New("pq: password authentication failed"), xError.ServerInternalError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil {
				t.Fatal("the case makes no error")
			}
			for _, err := range []error{tc.err, fmt.Errorf("x: %w", tc.err), errors.Join(errors.New("y"), tc.err)} {
				got := xError.From(err)
				if got.GetErrorCode() != tc.want {
					t.Errorf("%v: %v, want %v", err, got.GetErrorCode(), tc.want)
				}
				if got.GetErrorMessage() != "" || got.GetData() != nil {
					t.Errorf("%v: message %q, data %v", err, got.GetErrorMessage(), got.GetData())
				}
				if !errors.Is(got, err) {
					t.Errorf("%v is lost", err)
				}
			}
		})
	}
}

// A real server and a real client, so that the errors are those that occur.
func TestErrorsOfRealConnectionsHaveCodes(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if got := xError.From(call(ctx, t, server.URL)).GetErrorCode(); got != xError.UpstreamTimeout {
		t.Errorf("slow server: %v", got)
	}

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); xError.From(err).GetErrorCode() != xError.ServiceUnavailable {
		t.Errorf("nobody listens: %v", xError.From(err))
	}
	if got := xError.From(call(t.Context(), t, "http://"+address)).GetErrorCode(); got != xError.RemoteError {
		t.Errorf("nobody answers: %v", got)
	}
	canceled, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (&net.Dialer{}).DialContext(canceled, "tcp", address); xError.From(err).GetErrorCode() != xError.Canceled {
		t.Errorf("canceled: %v", xError.From(err))
	}
}

func call(ctx context.Context, t *testing.T, address string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		t.Fatalf("%s answered %v", address, errors.Join(errors.New(resp.Status), resp.Body.Close()))
	}
	return err
}

func TestEndOfFileIsTheBodysOnlyWhereABodyWasRead(t *testing.T) {
	short := json.NewDecoder(bytes.NewBufferString(`{"a":`)).Decode(new(any))
	for _, tc := range []struct {
		name string
		err  error
		want *xError.ErrorCode
	}{
		{"empty", io.EOF, xError.BodyEmpty},
		{"empty, wrapped", fmt.Errorf("decode: %w", io.EOF), xError.BodyEmpty},
		{"short", short, xError.BodyError},
		{"too large", tooLarge(), xError.PayloadTooLarge},
		{"slow", opError("read", os.ErrDeadlineExceeded), xError.ReadTimeout},
		{"reset", opError("read", syscall.ECONNRESET), xError.Canceled},
		{"closed", net.ErrClosed, xError.Canceled},
		{"past the request's deadline", context.DeadlineExceeded, xError.GatewayTimeout},
		{"other", errSentinel, xError.ServerInternalError},
		{"already decided", xError.Wrap(xError.ServerInternalError, "", io.EOF), xError.ServerInternalError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xError.FromBody(tc.err).GetErrorCode(); got != tc.want {
				t.Errorf("FromBody(%v) = %v, want %v", tc.err, got, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		err  error
		want *xError.ErrorCode
	}{
		{io.ErrUnexpectedEOF, xError.BodyError},
		{opError("read", os.ErrDeadlineExceeded), xError.ReadTimeout},
		{opError("read", syscall.ECONNRESET), xError.Canceled},
		{context.Canceled, xError.Canceled},
		{tooLarge(), xError.PayloadTooLarge},
		{errors.New("invalid byte in chunk length"), xError.BodyError},
	} {
		err := xError.MarkBody(tc.err)
		if !errors.Is(err, tc.err) {
			t.Errorf("%v is lost in the mark", tc.err)
		}
		for _, err := range []error{err, fmt.Errorf("multipart: NextPart: %w", err)} {
			if got := xError.From(err).GetErrorCode(); got != tc.want {
				t.Errorf("From(%v), marked = %v, want %v", err, got, tc.want)
			}
		}
	}
	if xError.MarkBody(nil) != nil || xError.MarkBody(io.EOF) != io.EOF { //nolint:errorlint // the value itself
		t.Error("MarkBody changes nil or io.EOF")
	}
	if xError.FromBody(nil) != nil {
		t.Error("FromBody(nil) is an error")
	}
}

// queryError returns what net/url says of a query.
func queryError(query string) error {
	_, err := url.ParseQuery(query)
	return err
}

// partError returns what mime/multipart says of a body with the boundary x.
func partError(body string) error {
	_, err := multipart.NewReader(strings.NewReader(body), "x").ReadForm(1 << 10)
	return err
}
