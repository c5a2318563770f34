package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
)

// serviceKey makes the test binary run the service.
const serviceKey xenv.EnvKey = "STREAMING_TEST_SERVICE"

func TestMain(m *testing.M) {
	if _, ok := xenv.GetEnv(serviceKey); ok {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// newApp returns the application and the directory of its files.
func newApp(t *testing.T) (app *plinthtest.App, dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := openFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return plinthtest.New(t, options(root)...), dir
}

// newServer starts the application on a server and returns its URL.
func newServer(t *testing.T) string {
	t.Helper()
	app, _ := newApp(t)
	s := httptest.NewServer(app.Engine())
	t.Cleanup(func() {
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s.URL
}

// form returns a form with one file.
func form(t *testing.T, name, content string) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

func TestFiles(t *testing.T) {
	app, dir := newApp(t)
	body, contentType := form(t, "../notes.txt", "0123456789")
	complete := body.String()
	upload := func(body string) *plinthtest.Response {
		return app.Request(http.MethodPost, "/files", body,
			plinthtest.WithHeader("Content-Type", contentType))
	}
	if r := upload(complete); r.Status() != http.StatusCreated ||
		!strings.Contains(r.Body(), `"data":[{"name":"notes.txt","size":10}]`) {
		t.Fatalf("upload = %d %s", r.Status(), r.Body())
	}
	t.Run("a range", func(t *testing.T) {
		r := app.Request(http.MethodGet, "/files/notes.txt", nil,
			plinthtest.WithHeader("Range", "bytes=-3"))
		if r.Status() != http.StatusPartialContent || r.Body() != "789" {
			t.Errorf("download = %d %q, want the last 3 bytes", r.Status(), r.Body())
		}
	})
	t.Run("a truncated upload keeps the old file", func(t *testing.T) {
		if r := upload(strings.Replace(complete, "0123456789", "abc", 1)[:len(complete)-40]); r.
			Status() != http.StatusBadRequest {
			t.Errorf("upload = %d %s, want 400", r.Status(), r.Body())
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("files = %v, %v; want one", entries, err)
		}
		if r := app.Request(http.MethodGet, "/files/notes.txt", nil); r.Body() != "0123456789" {
			t.Errorf("download = %q, want the old content", r.Body())
		}
	})
	t.Run("a list", func(t *testing.T) {
		r := app.Request(http.MethodGet, "/lines", nil)
		if r.Body() != "{\"name\":\"notes.txt\",\"size\":10}\n" {
			t.Errorf("list = %q", r.Body())
		}
	})
	for _, name := range []string{"missing.txt", "..%2Fnotes.txt", ".upload-x", "%2Fetc%2Fpasswd"} {
		if r := app.Request(http.MethodGet, "/files/"+name, nil); r.Status() != http.StatusNotFound {
			t.Errorf("%s: %d %s, want 404", name, r.Status(), r.Body())
		}
	}
}

func TestImport(t *testing.T) {
	app, _ := newApp(t)
	for _, tc := range []struct{ name, body, want string }{
		{"lines", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", `"data":2`},
		{"a line without a line break", `{"text":"c"}`, `"data":1`},
		{"an invalid line", "{\"text\":\"d\"}\nx", "line 2 is not a JSON object"},
		{"a long line", strings.Repeat("x", maxLine+1), "line 1 is too long"},
	} {
		if r := app.Request(http.MethodPost, "/import", tc.body); !strings.Contains(r.Body(), tc.want) {
			t.Errorf("%s: %d %s, want %s", tc.name, r.Status(), r.Body(), tc.want)
		}
	}
}

// readEvents opens the stream after an ID, reads n events and disconnects.
func readEvents(t *testing.T, url, after string, n int) (ids []string, last string) {
	t.Helper()
	ctx, disconnect := context.WithCancel(t.Context())
	defer disconnect()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for n > 0 && lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids, last = append(ids, id), id
		}
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			ids = append(ids, name)
		}
		if lines.Text() == "" {
			n--
		}
	}
	return ids, last
}

func TestEvents_Resume(t *testing.T) {
	url := newServer(t)
	send := func(text string) {
		t.Helper()
		resp, err := http.Post(url+"/import", "application/jsonl", strings.NewReader(text)) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	send("{\"text\":\"1\"}\n{\"text\":\"2\"}\n{\"text\":\"3\"}\n")
	first, last := readEvents(t, url, "", 2)
	send("{\"text\":\"4\"}\n") // while the client is disconnected
	second, last := readEvents(t, url, last, 2)
	if got := strings.Join(append(first, second...), " "); got != "1 2 3 4" || last != "4" {
		t.Errorf("IDs = %s, want each once", got)
	}
	if got, _ := readEvents(t, url, "99", 5); strings.Join(got, " ") != "reset 1 2 3 4" {
		t.Errorf("IDs after an unknown event = %v, want a reset", got)
	}
}

func TestHistory_Bounded(t *testing.T) {
	h := newHistory()
	for range maxHistory + 5 {
		h.add(Message{})
	}
	events, complete, _ := h.after(4)
	if complete || len(events) != maxHistory {
		t.Errorf("after(4) = %d events, complete %t; want %d and a gap", len(events), complete, maxHistory)
	}
	if events, complete, _ = h.after(5); !complete || len(events) != maxHistory || events[0].ID != "6" {
		t.Errorf("after(5) = %d events, complete %t; want all", len(events), complete)
	}
}
