package llms_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/llms"
	"github.com/plinthgo/plinth/docs/internal/page"
)

func library(t *testing.T) *page.Library {
	t.Helper()
	return doctest.Library(t, map[string]string{
		"guide/order.yaml":     "title: Guide\npages: [start]\n",
		"guide/index.md":       "---\ntitle: Overview\ndescription: What is here.\n---\n\nRead on.\n",
		"guide/start.md":       "---\ntitle: Start\ndescription: First steps.\n---\n\n## One\n\n```go\n# no heading\n```\n",
		"base-java/order.yaml": "title: Java\npages: [errors]\n",
		"base-java/errors.md":  "---\ntitle: Errors\ndescription: All codes.\n---\n\nSee [one](../guide/start.md#one).\n",
	})
}

func TestIndex(t *testing.T) {
	want := "# Plinth\n\n> " + llms.Summary + "\n" +
		"\n## Guide\n\n- [Overview](/docs/guide.md): What is here.\n- [Start](/docs/guide/start.md): First steps.\n" +
		"\n## Java\n\n- [Errors](/docs/base-java/errors.md): All codes.\n"
	if diff := cmp.Diff(want, llms.Index(library(t), "")); diff != "" {
		t.Errorf("llms.txt (-want +got):\n%s", diff)
	}
}

func TestFull(t *testing.T) {
	want := "# Overview (/docs/guide)\n\nRead on.\n\n" +
		"# Start (/docs/guide/start)\n\n## One\n\n```go\n# no heading\n```\n\n" +
		"# Errors (/docs/base-java/errors)\n\nSee [one](/docs/guide/start#one).\n"
	if diff := cmp.Diff(want, llms.Full(library(t))); diff != "" {
		t.Errorf("llms-full.txt (-want +got):\n%s", diff)
	}
}

func TestDocuments_ServePage(t *testing.T) {
	l := library(t)
	w := httptest.NewRecorder()
	llms.New(l, "").ServePage(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/",
		nil), l.Find("guide", "start"))
	if got, want := w.Body.String(),
		"# Start (/docs/guide/start)\n\n## One\n\n```go\n# no heading\n```\n"; got != want {
		t.Errorf("page = %q, want %q", got, want)
	}
	if got := w.Header().Get("Content-Type"); got != "text/markdown; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
}

func TestByURL(t *testing.T) {
	l := library(t)
	tests := []struct{ name, url, want string }{
		{"a page", "/docs/guide/start", "/docs/guide/start"},
		{"with the suffix", "/docs/guide/start.md", "/docs/guide/start"},
		{"a sector", "/docs/guide", "/docs/guide"},
		{"a sector with the suffix", "/docs/guide.md", "/docs/guide"},
		{"with a slash", "/docs/guide/", "/docs/guide"},
		{"unknown", "/docs/guide/gone", ""},
		{"another sector's page", "/docs/guide/errors", ""},
		{"outside the content", "/docs/../../etc/passwd", ""},
		{"no sector", "/docs/", ""},
		{"outside /docs", "/guide/start", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if p := llms.ByURL(l, tt.url); p != nil {
				got = p.URL()
			}
			if got != tt.want {
				t.Errorf("ByURL(%q) = %q, want %q", tt.url, got, tt.want)
			}
		})
	}
}

func TestPrefersMarkdown(t *testing.T) {
	tests := []struct {
		name, accept string
		want         bool
	}{
		{"a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		{"nothing", "", false},
		{"anything", "*/*", false},
		{"a model", "text/markdown", true},
		{"before pages", "text/markdown, text/html;q=0.9, */*;q=0.1", true},
		{"equal weights", "text/html, text/markdown", true},
		{"after pages", "text/html, text/markdown;q=0.5", false},
		{"rejected", "text/markdown;q=0", false},
		{"with a parameter", "text/markdown; variant=GFM; q=0.9", true},
		{"an invalid weight", "text/markdown;q=lots", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := llms.PrefersMarkdown([]string{tt.accept}); got != tt.want {
				t.Errorf("PrefersMarkdown(%q) = %t", tt.accept, got)
			}
		})
	}
}

func TestIndex_Content(t *testing.T) {
	l := doctest.RealLibrary(t)
	item := regexp.MustCompile(`^- \[[^\]]+\]\(/docs/[a-z-]+(/[a-z0-9./-]+)?\.md\): .+$`)
	items := 0
	for line := range strings.Lines(llms.Index(l, "")) {
		if strings.HasPrefix(line, "- ") {
			items++
			if !item.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("item = %q", line)
			}
		}
	}
	if items != len(l.Pages()) {
		t.Errorf("%d items for %d pages", items, len(l.Pages()))
	}
}
