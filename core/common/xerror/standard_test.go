package xerror_test

import (
	"bufio"
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

	"github.com/plinthgo/plinth/core/common/xerror"
)

func errOf(_ any, err error) error { return err }

type timedOut struct{}

func (timedOut) Error() string   { return "i/o timeout" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

type badMarshaler struct{}

func (badMarshaler) MarshalJSON() ([]byte, error) { return []byte(`{"a":`), nil }

func opError(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }

func urlError(err error) error {
	return &url.Error{Op: "Get", URL: "http://internal.example/secret", Err: err}
}

func tooLarge() error {
	_, err := io.ReadAll(http.MaxBytesReader(httptest.NewRecorder(),
		io.NopCloser(strings.NewReader("too long")), 3))
	return err
}

func formFile(ctx context.Context, contentType string) error {
	body := "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--b--\r\n"
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	_, _, err := r.FormFile("file")
	return err
}

func TestFrom_StandardLibrary(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var number int
	for _, tc := range []struct {
		name string
		err  error
		want *xerror.ErrorCode
	}{
		{"deadline", context.DeadlineExceeded, xerror.GatewayTimeout},
		{"canceled", context.Canceled, xerror.Canceled},
		{"os deadline", os.ErrDeadlineExceeded, xerror.GatewayTimeout},

		{"missing file", errOf(os.Open(filepath.Join(dir, "missing"))), xerror.NotExist},
		{"file that exists", os.Mkdir(dir, 0o700), xerror.Existed},
		{
			"permission", &fs.PathError{Op: "open", Path: "/etc/shadow", Err: syscall.EACCES},
			xerror.PermissionDenied,
		},
		{"file as a directory", errOf(os.ReadDir(file)), xerror.FileError},
		{"link", os.Link(file, filepath.Join(dir, "missing", "x")), xerror.NotExist},
		{"link elsewhere", &os.LinkError{Op: "link", Err: syscall.EXDEV}, xerror.FileError},
		{"closed file", fs.ErrClosed, xerror.FileError},
		{
			"disk full", &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC},
			xerror.StorageError,
		},
		{"no memory", syscall.ENOMEM, xerror.MemoryError},
		{
			"too many open files",
			&fs.PathError{Op: "open", Path: "/x", Err: syscall.EMFILE}, xerror.ResourceExhausted,
		},
		{"too many files in the system", syscall.ENFILE, xerror.ResourceExhausted},
		{
			"unsupported by a file system",
			&fs.PathError{Op: "x", Path: "/x", Err: errors.ErrUnsupported}, xerror.FileError,
		},

		{"body too large", tooLarge(), xerror.PayloadTooLarge},
		{"form too large", multipart.ErrMessageTooLarge, xerror.UploadTooLarge},
		{
			"no file in the form",
			formFile(t.Context(), "multipart/form-data; boundary=b"), xerror.FileEmpty,
		},
		{"not a form", formFile(t.Context(), "text/plain"), xerror.UnsupportedMedia},
		{
			"form without a boundary",
			formFile(t.Context(), "multipart/form-data"), xerror.UnsupportedMedia,
		},
		{"no cookie", http.ErrNoCookie, xerror.HeaderEmpty},
		{"no HTTP/2 push", http.ErrNotSupported, xerror.UnsupportedOp},

		{"JSON syntax", json.Unmarshal([]byte(`{`), &number), xerror.BodyError},
		{"JSON type", json.Unmarshal([]byte(`"x"`), &number), xerror.BodyType},
		{
			"JSON of an unsupported type",
			errOf(json.Marshal([]any{make(chan int)})), xerror.SerializeError,
		},
		{
			"JSON of an unsupported value",
			errOf(json.Marshal(math.Inf(1))), xerror.SerializeError,
		},
		{
			"syntax error of a marshaler",
			errOf(json.Marshal(badMarshaler{})), xerror.SerializeError,
		},
		{"JSON into nil", &json.InvalidUnmarshalError{}, xerror.ServerInternalError},
		{"number", errOf(strconv.Atoi("x")), xerror.ParameterError},
		{"number out of range", errOf(strconv.ParseInt("999", 10, 8)), xerror.RangeError},
		{
			"out of range without a number",
			fmt.Errorf("counter: %w", strconv.ErrRange), xerror.ServerInternalError,
		},
		{"time", errOf(time.Parse(time.DateOnly, "x")), xerror.FormatError},
		{"URL", errOf(url.ParseRequestURI("x")), xerror.FormatError},

		{
			"connection refused",
			opError("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			xerror.ServiceUnavailable,
		},
		{"bare connection refused", syscall.ECONNREFUSED, xerror.ServiceUnavailable},
		{"dial timeout", opError("dial", timedOut{}), xerror.GatewayTimeout},
		{"read timeout", opError("read", os.ErrDeadlineExceeded), xerror.GatewayTimeout},
		{"write timeout", opError("write", os.ErrDeadlineExceeded), xerror.GatewayTimeout},
		{"other timeout", opError("accept", timedOut{}), xerror.GatewayTimeout},
		{"timeout without an operation", timedOut{}, xerror.GatewayTimeout},
		{"reset", opError("read", syscall.ECONNRESET), xerror.NetworkError},
		{"bare reset", syscall.ECONNRESET, xerror.NetworkError},
		{"broken pipe", syscall.EPIPE, xerror.NetworkError},
		{"closed connection", net.ErrClosed, xerror.NetworkError},
		{
			"unknown host",
			&net.DNSError{Err: "no such host", Name: "db.internal", IsNotFound: true},
			xerror.NetworkError,
		},
		{
			"missing socket", opError("dial", os.NewSyscallError("connect", syscall.ENOENT)),
			xerror.NetworkError,
		},

		{"call refused", urlError(opError("dial", syscall.ECONNREFUSED)), xerror.RemoteError},
		{"call timed out", urlError(timedOut{}), xerror.UpstreamTimeout},
		{"call past the deadline", urlError(context.DeadlineExceeded), xerror.UpstreamTimeout},
		{"call canceled", urlError(context.Canceled), xerror.Canceled},
		{"call without a cause", urlError(nil), xerror.RemoteError},

		{"closed pipe", io.ErrClosedPipe, xerror.IoError},
		{"short write", io.ErrShortWrite, xerror.IoError},
		{"no progress", io.ErrNoProgress, xerror.IoError},
		{"unsupported", errors.ErrUnsupported, xerror.UnsupportedOp},

		{"invalid escape", url.EscapeError("%zz"), xerror.ParameterError},
		{
			"part with an invalid header",
			textproto.ProtocolError("malformed MIME header line: X: a\x00"), xerror.BodyError,
		},
		{"mail server", textproto.ProtocolError("short response: "), xerror.ServerInternalError},
		{"semicolon", queryError("a;b"), xerror.ParameterError},
		{
			"form error quoted in another error",
			errors.New("upload to the archive: multipart: x"), xerror.ServerInternalError,
		},
		{
			"header of a mail server",
			textproto.ProtocolError("short response: malformed MIME header"),
			xerror.ServerInternalError,
		},
		{"too many parameters", queryError(strings.Repeat("a&", 10_001)), xerror.ParameterError},
		{"form body without the boundary", partError("hello"), xerror.BodyError},
		{
			"form with an invalid boundary",
			fmt.Errorf("upload: %w", partError("--x\r\n\r\n--x-\r\n")), xerror.BodyError,
		},

		{"end of file", io.EOF, xerror.ServerInternalError},
		{"unexpected end of file", io.ErrUnexpectedEOF, xerror.ServerInternalError},
		{"line too long", bufio.ErrTooLong, xerror.ServerInternalError},
		{"unknown", errors.New("pq: password authentication failed"), xerror.ServerInternalError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil {
				t.Fatal("err = nil")
			}
			for _, err := range []error{
				tc.err, fmt.Errorf("x: %w", tc.err), errors.Join(errors.New("y"), tc.err),
			} {
				got := xerror.From(err)
				if got.GetErrorCode() != tc.want {
					t.Errorf("%v: %v, want %v", err, got.GetErrorCode(), tc.want)
				}
				if got.GetErrorMessage() != "" || got.GetData() != nil {
					t.Errorf("%v: message %q, data %v", err, got.GetErrorMessage(), got.GetData())
				}
				if !errors.Is(got, err) {
					t.Errorf("errors.Is does not find %v", err)
				}
			}
		})
	}
}

// The test uses a real server and client to get the errors that occur in practice.
func TestFrom_Connections(t *testing.T) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-done
	}))
	defer server.Close()
	defer close(done)

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if got := xerror.From(call(ctx, t, server.URL)).GetErrorCode(); got != xerror.UpstreamTimeout {
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
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
		t.Errorf("no listener: %v", xerror.From(err))
	}
	err = call(t.Context(), t, "http://"+address)
	if got := xerror.From(err).GetErrorCode(); got != xerror.RemoteError {
		t.Errorf("call without a listener: %v", got)
	}
	canceled, stop := context.WithCancel(t.Context())
	stop()
	_, err = (&net.Dialer{}).DialContext(canceled, "tcp", address)
	if xerror.From(err).GetErrorCode() != xerror.Canceled {
		t.Errorf("canceled: %v", xerror.From(err))
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
		t.Fatalf("%s responded %v",
			address, errors.Join(errors.New(resp.Status), resp.Body.Close()))
	}
	return err
}

func TestMarkBody(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want *xerror.ErrorCode
	}{
		{io.ErrUnexpectedEOF, xerror.BodyError},
		{net.ErrClosed, xerror.Canceled},
		{context.DeadlineExceeded, xerror.GatewayTimeout},
		{
			xerror.Wrap(xerror.ServerInternalError, "", io.ErrUnexpectedEOF),
			xerror.ServerInternalError,
		},
		{opError("read", os.ErrDeadlineExceeded), xerror.ReadTimeout},
		{opError("read", syscall.ECONNRESET), xerror.Canceled},
		{context.Canceled, xerror.Canceled},
		{tooLarge(), xerror.PayloadTooLarge},
		{errors.New("invalid byte in chunk length"), xerror.BodyError},
	} {
		err := xerror.MarkBody(tc.err)
		if !errors.Is(err, tc.err) {
			t.Errorf("errors.Is does not find %v after MarkBody", tc.err)
		}
		for _, err := range []error{err, fmt.Errorf("multipart: NextPart: %w", err)} {
			if got := xerror.From(err).GetErrorCode(); got != tc.want {
				t.Errorf("From(%v), marked = %v, want %v", err, got, tc.want)
			}
		}
	}
	if xerror.MarkBody(nil) != nil || xerror.MarkBody(io.EOF) != io.EOF { // compared by value
		t.Error("MarkBody changes nil or io.EOF")
	}
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF} {
		if got := xerror.From(err).GetErrorCode(); got != xerror.ServerInternalError {
			t.Errorf("From(%v), not marked = %v, want SERVER_INTERNAL_ERROR", err, got)
		}
	}
}

func queryError(query string) error {
	_, err := url.ParseQuery(query)
	return err
}

func partError(body string) error {
	_, err := multipart.NewReader(strings.NewReader(body), "x").ReadForm(1 << 10)
	return err
}
