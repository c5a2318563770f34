package xapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// serveHTTP starts an application on a real server.
func serveHTTP(
	t *testing.T, routes func(*gin.Engine), opts ...xoption.Option,
) (url string, app *plinthtest.App) {
	t.Helper()
	app = plinthtest.New(t, append(opts, xoption.WithEngine(routes))...)
	s := httptest.NewServer(app.Engine())
	t.Cleanup(s.Close)
	return s.URL, app
}

// formPart is a file if it has a file name, otherwise a text field.
type formPart struct{ name, file, content string }

func encodeForm(t *testing.T, parts ...formPart) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		var part io.Writer
		var err error
		if p.file == "" {
			part, err = w.CreateFormField(p.name)
		} else {
			part, err = w.CreateFormFile(p.name, p.file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, p.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// post sends a body. Its length is unknown to the server unless it is a *strings.Reader.
func post(t *testing.T, url, contentType string, body io.Reader) (status int, response string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

type album struct {
	Title string `form:"title" binding:"required"`

	Cover  *xapi.File   `form:"cover"  binding:"required"`
	Photos []*xapi.File `form:"photos" binding:"max=2"`
}

func describeAlbum(_ context.Context, in *album) (string, error) {
	text := in.Title
	for _, file := range append([]*xapi.File{in.Cover}, in.Photos...) {
		f, err := file.Open()
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(f)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf(" %s=%s", file.Filename, content)
		if err := f.Close(); err != nil {
			return "", err
		}
	}
	return text, nil
}

func TestHandle_Files(t *testing.T) {
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Post(e, "/albums", describeAlbum, xapi.Bind(xbind.WithMaxFileBytes(8)))
	})
	title, cover := formPart{"title", "", "trip"}, formPart{"cover", "c.png", "c"}
	for _, tc := range []struct {
		name  string
		parts []formPart
		want  string
	}{
		{"a file and a text field", []formPart{title, cover}, `"data":"trip c.png=c"`},
		{
			"several files",
			[]formPart{cover, {"photos", "1.png", "1"}, {"photos", "2.png", "2"}, title},
			`"data":"trip c.png=c 1.png=1 2.png=2"`,
		},
		{
			"a hostile file name",
			[]formPart{title, {"cover", "..\\../etc/cron.d/<x>", "c"}},
			`"data":"trip x=c"`,
		},
		{"a missing file", []formPart{title}, `BODY_ERROR`},
		{"too many files", []formPart{
			title, cover, {"photos", "1", ""}, {"photos", "2", ""}, {"photos", "3", ""},
		}, `BODY_ERROR`},
		{"a large file", []formPart{title, {"cover", "c", "123456789"}}, `FILE_SIZE_EXCEEDED`},
		{"text instead of a file", []formPart{title, {"cover", "", "c"}}, `BODY_ERROR`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body, contentType := encodeForm(t, tc.parts...)
			if _, got := post(t, url+"/albums", contentType, strings.NewReader(body)); !strings.
				Contains(got, tc.want) {
				t.Errorf("response = %s, want %s", got, tc.want)
			}
		})
	}
}

// describeUpload returns the parts of a form.
func describeUpload(_ context.Context, in *struct{ Upload *xapi.Upload }) (string, error) {
	var b strings.Builder
	for part, err := range in.Upload.Parts() {
		if err != nil {
			return "", err
		}
		if part.FileName == "" {
			text, err := part.Text()
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s:%s ", part.Name, text)
			continue
		}
		n, err := io.Copy(io.Discard, part)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s:%s=%d ", part.Name, part.FileName, n)
	}
	return b.String(), nil
}

func describeRaw(_ context.Context, in *struct{ Body *xapi.Raw }) (string, error) {
	n, err := io.Copy(io.Discard, in.Body)
	return fmt.Sprint(in.Body.ContentType, " ", in.Body.Length, " ", n), err
}

const (
	maxUpload = 4096
	maxFile   = 64
)

func uploadRoutes(e *gin.Engine) {
	xapi.Post(e, "/upload", describeUpload,
		xapi.Bind(xbind.WithMaxBytes(maxUpload), xbind.WithMaxFileBytes(maxFile)))
	xapi.Post(e, "/parts", describeUpload)
	xapi.Post(e, "/raw", describeRaw, xapi.Bind(xbind.WithMaxBytes(maxUpload)))
}

func TestUpload(t *testing.T) {
	url, _ := serveHTTP(t, uploadRoutes)
	valid := func(parts ...formPart) (body, contentType string) {
		return encodeForm(t, parts...)
	}
	full, fullType := valid(formPart{"a", "a.txt", "hello"}, formPart{"n", "", "5"},
		formPart{"b", `..\..\b.txt`, ""})
	large, largeType := valid(formPart{"a", "a.txt", strings.Repeat("x", maxFile+1)})
	huge, hugeType := valid(slices.Repeat([]formPart{{"a", "a.txt", "hello"}}, 40)...)
	invalid, invalidType := valid(formPart{"n", "", "\xff"})
	badName, badNameType := valid(formPart{"\xff", "", "x"})
	text, textType := valid(formPart{"n", "", strings.Repeat("x", 1<<20+1)})
	many, manyType := valid(make([]formPart, 1001)...)
	for _, tc := range []struct {
		name, path, contentType, body string
		status                        int
		want                          string
	}{
		{"files and text in order", "/upload", fullType, full, 200, "a:a.txt=5 n:5 b:b.txt=0 "},
		{"a part above the limit", "/upload", largeType, large, 400, "FILE_SIZE_EXCEEDED"},
		{"a body above the limit", "/upload", hugeType, huge, 413, "PAYLOAD_TOO_LARGE"},
		{"invalid text", "/upload", invalidType, invalid, 400, "BODY_ERROR"},
		{"an invalid name", "/upload", badNameType, badName, 400, "BODY_ERROR"},
		{"a large text field", "/parts", textType, text, 413, "UPLOAD_TOO_LARGE"},
		{"too many parts", "/parts", manyType, many, 413, "UPLOAD_TOO_LARGE"},
		{"a truncated form", "/upload", fullType, full[:len(full)-6], 400, "BODY_ERROR"},
		{"a truncated part", "/upload", fullType, full[:len(full)/2], 400, "BODY_ERROR"},
		{"a form without parts", "/upload", fullType, "x", 400, "BODY_ERROR"},
		{"JSON", "/upload", "application/json", "{}", 415, "UNSUPPORTED_MEDIA"},
		{"no boundary", "/upload", "multipart/form-data", full, 415, "UNSUPPORTED_MEDIA"},
		{
			"another multipart type", "/upload", strings.Replace(fullType, "form-data", "mixed", 1),
			full, 415, "UNSUPPORTED_MEDIA",
		},
		{"no body", "/upload", fullType, "", 400, "BODY_EMPTY"},
		{"raw", "/raw", "image/png", "12345", 200, "image/png 5 5"},
		{
			"a raw body above the limit", "/raw", "image/png", strings.Repeat("x", maxUpload+1),
			413, "PAYLOAD_TOO_LARGE",
		},
		{"no raw body", "/raw", "image/png", "", 400, "BODY_EMPTY"},
	} {
		for _, length := range []string{"known", "unknown"} {
			t.Run(tc.name+" with "+length+" length", func(t *testing.T) {
				var body io.Reader = strings.NewReader(tc.body)
				want := tc.want
				if length == "unknown" && tc.body != "" {
					body = io.MultiReader(body)
					want = strings.Replace(want, " 5 5", " -1 5", 1)
				}
				status, got := post(t, url+tc.path, tc.contentType, body)
				if status != tc.status || !strings.Contains(got, want) {
					t.Errorf("response = %d %s, want %d with %q", status, got, tc.status, want)
				}
			})
		}
	}
}

func TestUpload_ServerLimits(t *testing.T) {
	t.Setenv("PLINTH_MAX_BODY_BYTES", "1024")
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Post(e, "/small", describeUpload)
		xapi.Post(e, "/large", describeUpload)
	}, xoption.WithServe(func(c *xhelper.Config) {
		c.RouteMaxBodyBytes = map[string]int64{"/large": 1 << 20}
	}))
	body, contentType := encodeForm(t, formPart{"a", "a.txt", strings.Repeat("x", 4096)})
	for _, tc := range []struct {
		path   string
		status int
	}{{"/small", http.StatusRequestEntityTooLarge}, {"/large", http.StatusOK}} {
		for _, r := range []io.Reader{
			strings.NewReader(body), io.MultiReader(strings.NewReader(body)),
		} {
			status, got := post(t, url+tc.path, contentType, r)
			if status != tc.status {
				t.Errorf("%s: %d %s, want %d", tc.path, status, got, tc.status)
			}
		}
	}
}

// gate is a body that stops after its first part until it is opened.
type gate struct {
	first, rest io.Reader
	open        chan struct{}
}

func newGate(text string) *gate {
	half := len(text) / 2
	return &gate{strings.NewReader(text[:half]), strings.NewReader(text[half:]), make(chan struct{})}
}

func (g *gate) Read(p []byte) (int, error) {
	n, err := g.first.Read(p)
	if err != io.EOF {
		return n, err
	}
	<-g.open
	return g.rest.Read(p)
}

// The bytes of an upload do not count, because the handler does not store them.
func TestUpload_InflightBudget(t *testing.T) {
	t.Setenv("PLINTH_MAX_INFLIGHT_BODY_BYTES", "100000")
	const size = 80_000
	read := make(chan struct{}, 4)
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Post(e, "/raw", func(_ context.Context, in *struct{ Body *xapi.Raw }) (int64, error) {
			n, err := io.CopyN(io.Discard, in.Body, size/2)
			if err != nil {
				return n, err
			}
			read <- struct{}{}
			rest, err := io.Copy(io.Discard, in.Body)
			return n + rest, err
		})
	}, xoption.WithMaxBodyBytes(size))
	results := make(chan string, cap(read))
	gates := make([]*gate, cap(read))
	for i := range gates {
		gates[i] = newGate(strings.Repeat("x", size))
		go func() {
			_, got := post(t, url+"/raw", "text/plain", gates[i])
			results <- got
		}()
		<-read
	}
	for _, g := range gates {
		close(g.open)
	}
	for range gates {
		if got := <-results; !strings.Contains(got, fmt.Sprintf(`"data":%d`, size)) {
			t.Errorf("response = %s, want %d bytes", got, size)
		}
	}
}
