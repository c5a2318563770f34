package docs_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/docs"
	"github.com/plinthgo/plinth/docs/internal/doctest"
)

func TestMain(m *testing.M) {
	// exits on its own
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

func open(t *testing.T, opts ...docs.Option) *docs.Site {
	t.Helper()
	site, err := docs.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func TestSite_ServeHTTP(t *testing.T) {
	site := open(t)
	tests := []struct {
		name, path, accept string
		status             int
		kind, want         string
	}{
		{"home", "/", "text/html", 200, "text/html; charset=utf-8", "Plinth"},
		{"a page", "/docs/guide/quick-start", "text/html", 200, "text/html; charset=utf-8", "<h1"},
		{
			"a page as Markdown by its suffix", "/docs/guide/quick-start.md", "",
			200, "text/markdown; charset=utf-8", "# Quick start (/docs/guide/quick-start)\n\n",
		},
		{
			"a page as Markdown by its other suffix", "/docs/guide/quick-start.mdx", "",
			200, "text/markdown; charset=utf-8", "# Quick start (/docs/guide/quick-start)\n\n",
		},
		{
			"with both", "/docs/guide.mdx", "text/markdown", 200, "text/markdown; charset=utf-8",
			"(/docs/guide)\n\n",
		},
		{"the icon", "/favicon.ico", "", 301, "text/html; charset=utf-8", `href="/favicon.svg"`},
		{
			"a page as Markdown by Accept", "/docs/guide/quick-start", "text/markdown",
			200, "text/markdown; charset=utf-8", "# Quick start (/docs/guide/quick-start)\n\n",
		},
		{
			"a page as Markdown for models", "/llms.mdx/docs/guide/quick-start", "",
			200, "text/markdown; charset=utf-8", "# Quick start (/docs/guide/quick-start)\n\n",
		},
		{
			"headings stay", "/llms.mdx/docs/guide/quick-start", "",
			200, "text/markdown; charset=utf-8", "\n## 1. Create a service\n",
		},
		{
			"with a suffix", "/llms.mdx/docs/guide/quick-start.md", "",
			200, "text/markdown; charset=utf-8", "# Quick start",
		},
		{
			"a page in Chinese", "/llms.mdx/docs/guide/quick-start.zh", "",
			200, "text/markdown; charset=utf-8", "(/docs/guide/quick-start.zh)",
		},
		{
			"an unknown page as Markdown", "/llms.mdx/docs/guide/gone", "",
			404, "text/plain; charset=utf-8", "/llms.txt lists",
		},
		{"another prefix", "/llms.mdx/guide/quick-start", "", 404, "text/plain; charset=utf-8", ""},
		{
			"a path with dot dots", "/llms.mdx/docs/../../go.mod", "",
			404, "text/plain; charset=utf-8",
			"",
		},
		{
			"the root, in Chinese", "/docs?lang=zh", "text/html", 302, "text/html; charset=utf-8",
			`href="/docs/guide?lang=zh"`,
		},
		{
			"an unknown page with the suffix .mdx", "/docs/guide/gone.mdx", "",
			404, "text/plain; charset=utf-8", "",
		},
		{
			"an unknown page with the suffix .md", "/docs/guide/gone.md", "",
			404, "text/plain; charset=utf-8", "",
		},
		{"the root", "/docs/", "text/html", 302, "text/html; charset=utf-8", `href="/docs/guide"`},
		{"an unknown page", "/docs/guide/gone", "text/html", 404, "text/html; charset=utf-8", ""},
		{"the index", "/llms.txt", "", 200, "text/plain; charset=utf-8", "# Plinth\n\n> "},
		{
			"everything", "/llms-full.txt", "", 200, "text/plain; charset=utf-8",
			"\n\n# xerror (/docs/base-go/xerror)\n\n",
		},
		{
			"no reload events without a folder", "/api/reload", "",
			404, "text/plain; charset=utf-8",
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := doctest.Get(t, site, tt.path, "Accept", tt.accept)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.kind ||
				!strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("response = %d %s %.200q, want %d %s with %q",
					w.Code, w.Header().Get("Content-Type"), w.Body, tt.status, tt.kind, tt.want)
			}
		})
	}
}

func TestSite_ServeHTTP_Methods(t *testing.T) {
	t.Run("pages", func(t *testing.T) {
		site := open(t)
		for _, path := range []string{"/", "/docs/guide/quick-start", "/llms.txt", "/search"} {
			w := httptest.NewRecorder()
			site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path,
				strings.NewReader("x")))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("POST %s = %d, Allow %q", path, w.Code, w.Header().Get("Allow"))
			}
		}
	})

	t.Run("events", func(t *testing.T) {
		w := doctest.Do(t, open(t, docs.WithFolder(folder(t))), http.MethodPost, "/api/reload")
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodGet {
			t.Errorf("response = %d, Allow %q", w.Code, w.Header().Get("Allow"))
		}
	})
}

func TestSite_ServeHTTP_Headers(t *testing.T) {
	t.Run("responses have nosniff", func(t *testing.T) {
		site := open(t)
		for _, path := range []string{
			"/", "/docs/guide/quick-start.md", "/llms.txt",
			"/llms.mdx/docs/guide/gone", "/docs/guide/gone",
		} {
			if got := doctest.Get(t, site,
				path).Header().Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options of %s = %q", path, got)
			}
		}
	})

	t.Run("Vary contains Accept", func(t *testing.T) {
		site := open(t)
		for _, accept := range []string{"text/html", "text/markdown"} {
			if vary := doctest.Get(t, site, "/docs/guide/quick-start", "Accept",
				accept).Header().Values("Vary"); !slices.Contains(vary, "Accept") {
				t.Errorf("Vary of %s = %q", accept, vary)
			}
		}
	})
}

func TestNew_Errors(t *testing.T) {
	_, err := docs.New(
		docs.WithBaseURL("https://user:pass@example.org"), docs.WithOrigins("example.org"),
		docs.WithContent(nil), docs.WithFolder("gone"),
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"WithBaseURL", "WithOrigins", "WithContent",
		`WithFolder: "gone" is not a directory`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want it to contain %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "pass") {
		t.Errorf("the error contains a password: %v", err)
	}
	if _, err := docs.New(docs.WithContent(fstest.MapFS{})); err == nil {
		t.Error("got no error for empty content")
	}
}

func TestWithBaseURL(t *testing.T) {
	content := docs.WithFolder(folder(t))
	for _, base := range []string{
		"https://docs.example.org", "http://docs.example.org/", "http://localhost:8080",
		"https://127.0.0.1:1", "http://[::1]", "http://[2001:db8::1]:65535",
		"https://xn--bcher-kva.example", "https://Docs-1.Example.ORG",
	} {
		if _, err := docs.New(content, docs.WithBaseURL(base)); err != nil {
			t.Errorf("the base %q: %v", base, err)
		}
	}
	for _, base := range []string{
		"", "docs.example.org", "ftp://docs.example.org", "http://:8080",
		"https://docs.example.org/docs", "https://docs.example.org?x",
		"https://docs.example.org#x", "https://user@docs.example.org", "https://docs.example.org//",
		"//docs.example.org",
		"https://h<script>", `https://h"onload=x`, "https://h'x", "https://h x", "https://h%20x",
		"https://h;x", "https://h,x", "https://h&x", "https://h\nx",
		"https://-", "https://.", "https://bücher.example", "https://h_x",
		"https://h:", "https://h:0", "https://h:65536", "https://h:http", "https://h:-1",
		"https://h:1:2", "https://h:99999999999999999999",
		"https://[", "https://[]", "https://[::1", "https://[::g]", "https://[127.0.0.1]",
		"https://[fe80::1%25eth0]", "https://[::1]x", "https://::1",
	} {
		if _, err := docs.New(content, docs.WithBaseURL(base)); err == nil ||
			!strings.Contains(err.Error(), "WithBaseURL") {
			t.Errorf("the base %q: error = %v", base, err)
		}
	}
}

func TestSite_ServeHTTP_LLMsLinks(t *testing.T) {
	link := regexp.MustCompile(`(?m)^- \[[^\]]+\]\(([^)]*)\): `)
	pages := len(contentPages(t))
	for _, tt := range []struct{ name, base string }{
		{"with a base URL", "https://docs.example.org"},
		{"without", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			site, dir := open(t), filepath.Join(t.TempDir(), "site")
			if tt.base != "" {
				site = open(t, docs.WithBaseURL(tt.base))
			}
			if err := site.Build(dir); err != nil {
				t.Fatal(err)
			}
			links := link.FindAllStringSubmatch(doctest.Get(t, site, "/llms.txt").Body.String(), -1)
			if len(links) != pages {
				t.Errorf("got %d links, want one for each of %d pages", len(links), pages)
			}
			for _, m := range links {
				path, ok := strings.CutPrefix(m[1], tt.base+"/docs/")
				if !ok {
					t.Errorf("got link %s, want %s/docs/...", m[1], tt.base)
					continue
				}
				w := doctest.Get(t, site, "/docs/"+path)
				if w.Code != http.StatusOK ||
					w.Header().Get("Content-Type") != "text/markdown; charset=utf-8" {
					t.Errorf("%s: got %d %s, want 200 and Markdown",
						m[1], w.Code, w.Header().Get("Content-Type"))
				}
				file, err := os.ReadFile(filepath.Join(dir, "docs", filepath.FromSlash(path)))
				if err != nil || string(file) != w.Body.String() {
					t.Errorf("%s: the built file differs: %v", m[1], err)
				}
			}
		})
	}
}

// contentPages returns the files of the embedded pages.
func contentPages(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(docs.Content(), ".", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWithFolder(t *testing.T) {
	dir := folder(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	write(t, filepath.Dir(secret), "secret.md", "---\ntitle: Secret\n---\n\ntop secret\n")
	if err := os.Symlink(secret, filepath.Join(dir, "guide", "linked.md")); err != nil {
		t.Fatal(err)
	}
	if got := doctest.Get(t, open(t, docs.WithFolder(dir)),
		"/docs/guide/linked.md"); got.Code != http.StatusNotFound {
		t.Errorf("response = %d %s", got.Code, got.Body)
	}
}

// folder returns a documentation that a test can change.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "guide/order.yaml", "title: Guide\ndescription: How to.\npages: [start]\n")
	write(t, dir, "guide/start.md",
		"---\ntitle: Start\ndescription: First steps.\n---\n\nBefore.\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSite_Watch(t *testing.T) {
	dir := folder(t)
	site := open(t, docs.WithFolder(dir))
	server := httptest.NewServer(site)
	defer server.Close()
	defer watch(t, site)()

	for _, change := range []struct{ name, file, text, path, want string }{
		{
			"a file", "guide/start.md",
			"---\ntitle: Start\ndescription: First steps.\n---\n\nAfter.\n", "/docs/guide/start.md",
			"After.",
		},
		{
			"a new folder", "guide/more/deep.md",
			"---\ntitle: Deep\ndescription: Far down.\n---\n\nFirst.\n", "/docs/guide/more/deep.md",
			"First.",
		},
		{
			"a file in it", "guide/more/deep.md",
			"---\ntitle: Deep\ndescription: Far down.\n---\n\nSecond.\n",
			"/docs/guide/more/deep.md", "Second.",
		},
	} {
		t.Run(change.name, func(t *testing.T) {
			changed := follow(t, server.URL)
			write(t, dir, change.file, change.text)
			for !strings.Contains(doctest.Get(t, site, change.path).Body.String(), change.want) {
				<-changed // possibly an intermediate step
				changed = follow(t, server.URL)
			}
		})
	}
}

// watch watches the directory of a site until the returned function is called.
func watch(t *testing.T, site *docs.Site) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := site.Watch(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() {
		cancel()
		watching.Wait()
	}
}

// follow returns a channel that is closed by the next change event.
func follow(t *testing.T, url string) <-chan struct{} {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/reload", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // closed below, when the event has come
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, _ := io.ReadAll(response.Body) // until the event or the end of the test
		if err := response.Body.Close(); err == nil && t.Context().Err() == nil &&
			!strings.Contains(string(text), "data: changed") {
			t.Errorf("events = %q", text)
		}
	}()
	return done
}
