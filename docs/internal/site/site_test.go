package site_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
	"github.com/plinthgo/plinth/docs/internal/site"
)

const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

// content returns a small documentation with groups, a directory, translations and
// hostile text.
func content() map[string]string {
	return map[string]string{
		"guide/order.yaml": "title: Guide\ntitle_zh: 指南\ndescription: How to begin.\ngroups:\n" +
			"  - {title: First, title_zh: 首先, pages: [start, hostile]}\n  - {title: Then, pages: [more/]}\n",
		"guide/start.md":    "---\ntitle: Quick start\ndescription: The first steps.\n---\n\nIntro about kettles.\n\n## One\n\n### One and a half\n\n## Two\n\n> [!WARNING]\n> Hot.\n\n[more](more/deep.md#x)\n",
		"guide/start.zh.md": "---\ntitle: 快速开始\ndescription: 第一步。\n---\n\n> [!NOTE]\n> 小心。\n\n## 一\n",
		"guide/hostile.md": "---\ntitle: '" + attack + "'\ndescription: '" + attack +
			"'\n---\n\n" + attack + "\n\n## " + attack + "\n\n```html\n" + attack + "\n```\n\n`" +
			attack + "`\n\n[x](javascript:alert(3))\n",
		"guide/more/order.yaml":   "title: More\ntitle_zh: 更多\npages: [deep, picture]\n",
		"guide/more/deep.md":      "---\ntitle: Deep\ndescription: Far down.\n---\n\n## X\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n",
		"guide/more/picture.md":   "---\ntitle: Picture\ndescription: A diagram.\n---\n\n## Request\n\n```mermaid\ngraph LR\n  a --> b\n```\n",
		"reference/order.yaml":    "title: Reference\ndescription: All of it.\npages: [kettle]\n",
		"reference/index.md":      "---\ntitle: Reference\ndescription: The whole.\n---\n\nText.\n",
		"reference/kettle.md":     "---\ntitle: xKettle\ndescription: Boils water.\n---\n\n## Boil\n\nA kettle boils, and a kettle whistles.\n",
		"reference/index.zh.md":   "---\ntitle: 参考\ndescription: 全部。\n---\n\n内容。\n",
		"reference/unrelated.txt": "not a page",
	}
}

func newSite(t *testing.T, change ...func(*site.Config)) *site.Site {
	t.Helper()
	s, err := site.New(config(t, change...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func config(t *testing.T, change ...func(*site.Config)) site.Config {
	t.Helper()
	library := doctest.Library(t, content())
	c := site.Config{Library: library, Index: search.New(library)}
	for _, f := range change {
		f(&c)
	}
	return c
}

// body returns the body of a page and fails if the page does not exist.
func body(t *testing.T, h http.Handler, url string) string {
	t.Helper()
	w := doctest.Get(t, h, url)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status = %d", url, w.Code)
	}
	return w.Body.String()
}

func realSite(t *testing.T) (*site.Site, *page.Library) {
	t.Helper()
	library := doctest.RealLibrary(t)
	s, err := site.New(site.Config{
		Library: library, Index: search.New(library),
		BaseURL: "https://docs.example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, library
}

func TestSite_Headers(t *testing.T) {
	t.Run("security headers", func(t *testing.T) {
		s := newSite(t)
		for _, url := range []string{
			"/", "/zh", "/docs/guide", "/docs/guide/start", "/search?q=x",
			"/api/search", "/nothing", "/robots.txt",
		} {
			h := doctest.Get(t, s, url).Header()
			policy := h.Get("Content-Security-Policy")
			for _, part := range []string{
				"default-src 'none'", "script-src 'self';", "style-src 'self';", "img-src 'self'",
				"connect-src 'self'",
				"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
			} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s: the policy does not contain %s: %s", url, part, policy)
				}
			}
			if strings.Contains(policy, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("Referrer-Policy") == "" || h.Get("Permissions-Policy") == "" {
				t.Errorf("%s: header = %v", url, h)
			}
		}
		h := doctest.Get(t, s, "/favicon.svg").Header()
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") ||
			h.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("picture: header = %v", h)
		}
	})

	t.Run("only GET and HEAD are allowed", func(t *testing.T) {
		w := doctest.Do(t, newSite(t), http.MethodPost, "/docs/guide/start")
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("response = %d %v", w.Code, w.Header())
		}
	})

	t.Run("caching and compression of pages", func(t *testing.T) {
		s := newSite(t)
		const url = "/docs/guide/start"
		whole := doctest.Get(t, s, url)
		zipped := doctest.Get(t, s, url, "Accept-Encoding", "gzip")
		if zipped.Header().Get("Content-Encoding") != "gzip" ||
			zipped.Body.Len() >= whole.Body.Len() ||
			whole.Header().Get("Content-Encoding") != "" {
			t.Errorf("%d bytes compressed, %d not: %v",
				zipped.Body.Len(), whole.Body.Len(), zipped.Header())
		}
		if w := doctest.Get(t, s, url, "If-None-Match",
			whole.Header().Get("Etag")); w.Code != http.StatusNotModified ||
			w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("known page: %d %v", w.Code, w.Header())
		}
		if w := doctest.Do(t, s, http.MethodHead, url); w.Code != http.StatusOK ||
			w.Body.Len() != 0 ||
			w.Header().Get("Content-Length") == "" {
			t.Errorf("HEAD: %d with %d bytes, %v", w.Code, w.Body.Len(), w.Header())
		}
		if got, want := whole.Header().Get("Link"),
			`</docs/guide/start.md>; rel="alternate"; type="text/markdown"`; got != want {
			t.Errorf("Link = %q, want %q", got, want)
		}
	})

	t.Run("assets are immutable", func(t *testing.T) {
		s := newSite(t)
		text := body(t, s, "/")
		for _, ending := range []string{".css", ".js", ".svg"} {
			end := strings.Index(text, ending+`"`)
			start := strings.LastIndexByte(text[:max(end, 0)], '"') + 1
			if end < 0 {
				t.Fatalf("the page has no %s", ending)
			}
			w := doctest.Get(t, s, text[start:end+len(ending)])
			if w.Code != http.StatusOK ||
				!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", text[start:end], w.Code, w.Header())
			}
		}
	})
}

// checkPlain fails if a page contains inline scripts or styles, event handlers or
// external addresses.
func checkPlain(t *testing.T, name, text string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(text))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", name, err)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			checkTag(t, name, tokens.Token())
		default:
		}
	}
}

func checkTag(t *testing.T, name string, token html.Token) {
	t.Helper()
	attributes := map[string]string{}
	for _, a := range token.Attr {
		attributes[a.Key] = a.Val
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") ||
			strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
			t.Errorf("%s: <%s %s=%q>", name, token.Data, a.Key, a.Val)
		}
	}
	if (token.Data == "script" || token.Data == "img") &&
		!strings.HasPrefix(attributes["src"], "/assets/") || token.Data == "style" {
		t.Errorf("%s: %v", name, token)
	}
	if strings.HasPrefix(attributes["href"], "http") && token.Data == "a" &&
		attributes["rel"] != "noopener" {
		t.Errorf("%s: %v has no rel", name, token)
	}
}

func TestSite_Escaping(t *testing.T) {
	s := newSite(t, func(c *site.Config) { c.EditURL = "https://git.example.com/edit" })
	query := "?q=" + strings.NewReplacer(" ", "+", `"`, "%22", "<", "%3C", ">",
		"%3E").Replace(attack)
	for _, url := range []string{
		"/", "/docs/guide", "/docs/guide/hostile", "/docs/guide/start",
		"/search" + query, "/search?lang=zh&q=alert",
		"/docs/guide/" + strings.NewReplacer(" ", "%20", `"`, "%22", "<", "%3C", ">",
			"%3E").Replace(attack),
	} {
		text := doctest.Get(t, s, url).Body.String()
		checkPlain(t, url, text)
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "<img src=x") {
			t.Errorf("%s: hostile text is not escaped", url)
		}
	}
	if text := body(t, s, "/search"+query); !strings.Contains(text,
		`value="&#34;&gt;&lt;script&gt;alert(1)`) {
		t.Errorf("the query is not shown:\n%s", text)
	}
}

func TestSite_Redirect(t *testing.T) {
	s := newSite(t)
	tests := []struct{ name, url, want string }{
		{"slash at the end", "/docs/guide/start/", "/docs/guide/start"},
		{"sector with a slash", "/docs/guide/", "/docs/guide"},
		{"an index page", "/docs/guide/more/deep/index", "/docs/guide/more/deep"},
		{"a query", "/docs/guide/start/?lang=zh&q=a%2fb", "/docs/guide/start?lang=zh&q=a%2fb"},
		{
			"a query of an index page", "/docs/guide/more/deep/index?lang=zh",
			"/docs/guide/more/deep?lang=zh",
		},
		{"an empty query", "/docs/guide/?", "/docs/guide"},
		{"an address in the query", "/zh/?//evil.example/", "/zh?//evil.example/"},
		{"line breaks in the query", "/zh/?a%0d%0aSet-Cookie:b", "/zh?a%0d%0aSet-Cookie:b"},
		{"another host in the path", "//example.com/docs/guide/start/", ""},
		{"another host", "//evil.example/", ""},
		{"another host with a query", "//evil.example/?a", ""},
		{"another host after a backslash", `/\evil.example/`, ""},
		{"another host after an escaped backslash", "/%5cevil.example/", ""},
		{"another host below docs", "/docs//evil.example/", ""},
		{"another host after an escaped slash", "/%2fevil.example/", ""},
		{"another host of a known path", "//zh/", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := doctest.Get(t, s, tt.url).Header().Get("Location"); got != tt.want {
				t.Errorf("location = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSite_NotFound(t *testing.T) {
	s := newSite(t)
	w := doctest.Get(t, s, "/docs/guide/stat", "Accept-Encoding", "gzip")
	zip, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusNotFound ||
		!strings.Contains(string(text), `<a href="/docs/guide/start">Quick start</a>`) {
		t.Errorf("response = %d\n%s", w.Code, text)
	}
	if strings.Contains(string(text), "/docs/guide/start.zh") {
		t.Error("a page and its translation are both listed")
	}
	if text := doctest.Get(t, s, "/docs/guide/stat.zh").Body.String(); !strings.Contains(text,
		`<html lang="zh">`) || !strings.Contains(text, "页面不存在") {
		t.Errorf("the response for a missing Chinese page is not in Chinese:\n%s", text)
	}
}

func TestSite_Icon(t *testing.T) {
	w := doctest.Get(t, newSite(t), "/favicon.ico")
	if w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != "/favicon.svg" ||
		w.Header().Get("Cache-Control") != "public, max-age=86400" {
		t.Errorf("response = %d %v", w.Code, w.Header())
	}
}
