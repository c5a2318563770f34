package xapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

const content = "0123456789"

var modified = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// closing counts the closes of a content.
type closing struct {
	io.ReadSeeker

	closed *atomic.Int32
}

func (c closing) Close() error { c.closed.Add(1); return nil }

// reader hides the other methods of a reader.
type reader struct{ io.Reader }

// stream is a closing content that is not an io.Seeker.
type stream struct {
	io.Reader
	io.Closer
}

func file(closed *atomic.Int32) *xapi.Download {
	return &xapi.Download{
		Content: closing{strings.NewReader(content), closed}, Name: "a.txt",
		ModTime: modified, ETag: `"v1"`,
	}
}

// broken is content of 1 MiB that fails after some bytes.
type broken struct {
	left    int
	failure error
}

func (b *broken) Read(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if n == 0 {
		return 0, b.failure
	}
	return n, nil
}

func (b *broken) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		return 1 << 20, nil
	}
	return offset, nil
}

// unseekable is content that cannot be positioned.
type unseekable struct{ io.Reader }

func (unseekable) Seek(int64, int) (int64, error) { return 0, xerror.New(xerror.StorageError, "") }

type result struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func download(t *testing.T, method, url string, header ...string) result {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(body), err}
}

func TestDownload(t *testing.T) {
	var closed atomic.Int32
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Get(e, "/file", func(context.Context, *struct{}) (*xapi.Download, error) {
			return file(&closed), nil
		})
	})
	const (
		earlier = "Sun, 01 Mar 2026 11:00:00 GMT"
		exact   = "Sun, 01 Mar 2026 12:00:00 GMT"
	)
	for _, tc := range []struct {
		name   string
		method string
		header []string
		status int
		ranges string // Content-Range
		want   string
	}{
		{"the whole file", "GET", nil, 200, "", content},
		{"HEAD", "HEAD", nil, 200, "", ""},
		{"a range", "GET", []string{"Range", "bytes=2-4"}, 206, "bytes 2-4/10", "234"},
		{"an open range", "GET", []string{"Range", "bytes=8-"}, 206, "bytes 8-9/10", "89"},
		{"a suffix", "GET", []string{"Range", "bytes=-3"}, 206, "bytes 7-9/10", "789"},
		{"HEAD of a range", "HEAD", []string{"Range", "bytes=2-4"}, 206, "bytes 2-4/10", ""},
		{
			"an unsatisfiable range", "GET",
			[]string{"Range", "bytes=10-"},
			416,
			"bytes */10", `"output":"BAD_REQUEST"`,
		},
		{"a malformed range", "GET", []string{"Range", "bytes=x"}, 416, "", `"output":"BAD_REQUEST"`},
		{"a known entity tag", "GET", []string{"If-None-Match", `"v0", "v1"`}, 304, "", ""},
		{"an unknown entity tag", "GET", []string{"If-None-Match", `"v0"`}, 200, "", content},
		{"not modified", "GET", []string{"If-Modified-Since", exact}, 304, "", ""},
		{"modified", "GET", []string{"If-Modified-Since", earlier}, 200, "", content},
		{
			"a range of the same version", "GET",
			[]string{"Range", "bytes=0-1", "If-Range", `"v1"`},
			206, "bytes 0-1/10", "01",
		},
		{
			"a range of another version", "GET",
			[]string{"Range", "bytes=0-1", "If-Range", `"v0"`},
			200, "", content,
		},
		{"a failed condition", "GET", []string{"If-Match", `"v0"`}, 412, "", `"output":"BAD_REQUEST"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			closed.Store(0)
			r := download(t, tc.method, url+"/file", tc.header...)
			if r.status != tc.status || r.header.Get("Content-Range") != tc.ranges || r.err != nil ||
				!strings.Contains(r.body, tc.want) || tc.want == "" && r.body != "" {
				t.Errorf("response = %+v, want %d, %q and %q", r, tc.status, tc.ranges, tc.want)
			}
			wantName, wantTag := "attachment; filename=a.txt", `"v1"`
			if tc.status >= http.StatusBadRequest {
				wantName, wantTag = "", ""
			}
			if r.header.Get("Content-Disposition") != wantName || r.header.Get("ETag") != wantTag {
				t.Errorf("header = %v, want the disposition %q and the tag %q", r.header, wantName, wantTag)
			}
			if n := closed.Load(); n != 1 {
				t.Errorf("the content was closed %d times, want once", n)
			}
		})
	}
	t.Run("several ranges", func(t *testing.T) {
		r := download(t, http.MethodGet, url+"/file", "Range", "bytes=0-1,8-9")
		if r.status != http.StatusPartialContent ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "multipart/byteranges; boundary=") ||
			!strings.Contains(r.body, "bytes 0-1/10\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n01\r\n") ||
			!strings.Contains(r.body, "\r\n\r\n89\r\n") {
			t.Errorf("response = %+v, want two parts", r)
		}
	})
}

func TestDownload_Header(t *testing.T) {
	for _, tc := range []struct {
		name                  string
		download              xapi.Download
		contentType, fileName string
		disposition           string
	}{
		{"a type by the extension", xapi.Download{Name: "a.html"}, "text/html; charset=utf-8", "a.html", ""},
		{"a declared type", xapi.Download{Name: "a.html", ContentType: "image/png"}, "image/png", "a.html", ""},
		{"no name", xapi.Download{}, "application/octet-stream", "", ""},
		{
			"quotes",
			xapi.Download{Name: `a "b".bin`},
			"application/octet-stream", `a "b".bin`,
			`attachment; filename="a \"b\".bin"`,
		},
		{
			"UTF-8",
			xapi.Download{Name: "报告.txt"},
			"text/plain; charset=utf-8", "报告.txt",
			"attachment; filename*=utf-8''%E6%8A%A5%E5%91%8A.txt",
		},
		{
			"a line break",
			xapi.Download{Name: "a\r\nX-B: c.txt"},
			"text/plain; charset=utf-8",
			"a\r\nX-B: c.txt", "attachment; filename*=utf-8''a%0D%0AX-B%3A%20c.txt",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url, _ := serveHTTP(t, func(e *gin.Engine) {
				xapi.Get(e, "/file", func(context.Context, *struct{}) (*xapi.Download, error) {
					d := tc.download
					d.Content = strings.NewReader(content)
					return &d, nil
				})
			})
			r := download(t, http.MethodGet, url+"/file")
			disposition := r.header.Get("Content-Disposition")
			_, params, _ := mime.ParseMediaType(disposition)
			if r.header.Get("Content-Type") != tc.contentType || params["filename"] != tc.fileName ||
				tc.disposition != "" && disposition != tc.disposition {
				t.Errorf("header = %v, want %+v", r.header, tc)
			}
			if got := r.header.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options = %q, want nosniff", got)
			}
		})
	}
}

func TestDownload_Failure(t *testing.T) {
	failure := errors.New("disk failure")
	const half = 512 << 10
	for _, tc := range []struct {
		name    string
		content io.Reader
		header  []string
		status  int // 0 for an aborted connection
		output  string
	}{
		{"a missing file", nil, nil, 404, "NOT_FOUND"},
		{"a seeker before the first byte", &broken{0, failure}, nil, 500, "SERVER_INTERNAL_ERROR"},
		{
			"a seeker before the first byte of a range", &broken{0, failure},
			[]string{"Range", "bytes=5-9"},
			500, "SERVER_INTERNAL_ERROR",
		},
		{"a seeker in the middle", &broken{half, failure}, nil, 0, ""},
		{"several ranges in the middle", &broken{half, failure}, []string{"Range", "bytes=0-500000,700000-900000"}, 0, ""},
		{"a seeker that cannot seek", unseekable{strings.NewReader("x")}, nil, 500, "STORAGE_ERROR"},
		{"a reader before the first byte", reader{&broken{0, failure}}, nil, 500, "SERVER_INTERNAL_ERROR"},
		{"a reader in the middle", reader{&broken{half, failure}}, nil, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url, app := serveHTTP(t, func(e *gin.Engine) {
				xapi.Get(e, "/file", func(context.Context, *struct{}) (*xapi.Download, error) {
					return &xapi.Download{
						Content: tc.content, Name: "a.bin", ETag: `"v1"`, ModTime: modified, Size: 1 << 20,
					}, nil
				})
			})
			r := download(t, http.MethodGet, url+"/file", tc.header...)
			if tc.status == 0 {
				if r.err == nil {
					t.Errorf("read %d bytes of a truncated response without an error", len(r.body))
				}
				if log := app.LogText(); !strings.Contains(log, failure.Error()) {
					t.Errorf("log = %s, want the cause", log)
				}
				return
			}
			if r.status != tc.status || !strings.Contains(r.body, `"output":"`+tc.output+`"`) ||
				strings.Contains(r.body, failure.Error()) {
				t.Errorf("response = %d %s, want %d %s", r.status, r.body, tc.status, tc.output)
			}
			for _, name := range []string{
				"Content-Disposition", "ETag", "Last-Modified", "Content-Range", "Accept-Ranges",
			} {
				if got := r.header.Get(name); got != "" {
					t.Errorf("%s = %q in an error response", name, got)
				}
			}
			if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
				t.Errorf("Content-Type = %q, want JSON", got)
			}
		})
	}
}

func TestDownload_Reader(t *testing.T) {
	var closed atomic.Int32
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Get(e, "/file", func(context.Context, *struct{}) (*xapi.Download, error) {
			return &xapi.Download{
				Content: stream{strings.NewReader(content), closing{nil, &closed}},
				Size:    int64(len(content)), ModTime: modified,
			}, nil
		})
		xapi.Get(e, "/empty", func(context.Context, *struct{}) (*xapi.Download, error) {
			return &xapi.Download{Content: reader{strings.NewReader("")}}, nil
		})
		xapi.Get(e, "/null", func(context.Context, *struct{}) (*xapi.Download, error) {
			return nil, nil //nolint:nilnil // a missing file
		})
	})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		closed.Store(0)
		r := download(t, method, url+"/file", "Range", "bytes=0-1")
		want := content
		if method == http.MethodHead {
			want = ""
		}
		if r.status != http.StatusOK || r.body != want || r.header.Get("Content-Length") != "10" ||
			r.header.Get("Last-Modified") != "Sun, 01 Mar 2026 12:00:00 GMT" || closed.Load() != 1 {
			t.Errorf("%s = %+v, closed %d times", method, r, closed.Load())
		}
	}
	if r := download(t, http.MethodGet, url+"/empty"); r.status != http.StatusOK || r.body != "" {
		t.Errorf("an empty file = %+v", r)
	}
	if r := download(t, http.MethodGet, url+"/null"); r.status != http.StatusNotFound ||
		!strings.Contains(r.body, `"output":"NOT_FOUND"`) {
		t.Errorf("a nil download = %+v", r)
	}
}

// endless is content that depends on the context of the request and on a slow source.
type endless struct {
	ctx   context.Context
	pause time.Duration
	left  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	e.left--
	select {
	case <-time.After(e.pause):
		return copy(p, "x"), nil
	case <-e.ctx.Done():
		return 0, e.ctx.Err()
	}
}

func TestDownload_RequestTimeout(t *testing.T) {
	const timeout = 50 * time.Millisecond
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Get(e, "/file", func(ctx context.Context, _ *struct{}) (*xapi.Download, error) {
			return &xapi.Download{Content: &endless{ctx: ctx, pause: timeout, left: 4}}, nil
		})
	}, xoption.WithRequestTimeout(timeout))
	if r := download(t, http.MethodGet, url+"/file"); r.body != "xxxx" || r.err != nil {
		t.Errorf("response = %+v, want 4 bytes", r)
	}
}

func TestDownload_Disconnect(t *testing.T) {
	closedFile := make(chan struct{})
	url, app := serveHTTP(t, func(e *gin.Engine) {
		xapi.Get(e, "/file", func(context.Context, *struct{}) (*xapi.Download, error) {
			return &xapi.Download{Content: stream{
				bytes.NewReader(make([]byte, 64<<20)), closer(func() { close(closedFile) }),
			}}, nil
		})
	})
	conn := dial(t, url)
	if _, err := io.WriteString(conn, "GET /file HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	<-closedFile
	if log := app.LogText(); strings.Contains(log, `"level":"error"`) {
		t.Errorf("log = %s, want no line at ERROR", log)
	}
}

type closer func()

func (c closer) Close() error { c(); return nil }
