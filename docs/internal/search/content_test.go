package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/search"
)

// plainQueries maps queries of Go users to the expected first page.
var plainQueries = []struct{ query, want string }{
	{"authentication", "base-go/xmiddle"},
	{"authorization", "base-go/xmiddle"},
	{"login", "base-go/xmiddle"},
	{"permission", "base-go/xmiddle"},
	{"jwt", "base-go/xmiddle"},
	{"bearer token", "base-go/xhttp"},
	{"session", "base-go/xcache-hash"},
	{"password", "base-go/xutil"},
	{"cors", "base-go/xmiddle"},
	{"preflight", "base-go/xmiddle"},
	{"middleware", "base-go/xmiddle"},
	{"filter", "base-go/xmiddle"},
	{"upload", "guide/file-upload"},
	{"file upload", "guide/file-upload"},
	{"query parameters", "base-go/xbind"},
	{"binding", "base-go/xbind"},
	{"validation", "base-go/xvalid"},
	{"body limit", "base-go/xmain"},
	{"rate limit", "base-go/xmain"},
	{"timeout", "base-go/xmain"},
	{"graceful shutdown", "guide/graceful-shutdown"},
	{"health check", "guide/health-checks"},
	{"readiness", "guide/health-checks"},
	{"websocket", "guide/websocket"},
	{"server-sent events", "guide/streaming"},
	{"streaming", "guide/streaming"},
	{"openapi", "guide/openapi"},
	{"swagger", "guide/openapi"},
	{"response", "base-go/xresult"},
	{"error code", "base-go/xerror"},
	{"error handling", "base-go/xerror"},
	{"exception", "base-go/xerror"},
	{"routing", "base-go/xoption"},
	{"options", "base-go/xoption"},
	{"header", "base-go/xhttp"},
	{"request id", "base-go/xctx"},
	{"tracing", "base-go/xlog"},
	{"logging", "base-go/xlog"},
	{"log level", "base-go/xlog"},
	{"access log", "base-go/xhelper"},
	{"panic", "base-go/xhelper"},
	{"configuration", "guide/environment"},
	{"environment variables", "guide/environment"},
	{"database", "guide/database"},
	{"transaction", "base-go/xdb"},
	{"migration", "guide/migrations"},
	{"postgres", "base-go/postgres"},
	{"mysql", "base-go/mysql"},
	{"sqlite", "base-go/sqlite"},
	{"pagination", "base-go/xmodels"},
	{"soft delete", "base-go/xmodels"},
	{"unique id", "base-go/xsnowflake"},
	{"snowflake", "base-go/xsnowflake"},
	{"uuid", "base-go/xutil"},
	{"cache", "guide/caching"},
	{"redis", "base-go/redis"},
	{"lock", "base-go/xlease"},
	{"cron", "base-go/cronx"},
	{"background job", "guide/background-jobs"},
	{"queue", "base-go/asyncx-job"},
	{"retry", "base-go/asyncx-backoff"},
	{"send email", "base-go/notifyx-email"},
	{"webhook", "base-go/notifyx-webhook"},
	{"template", "base-go/notifyx"},
	{"grpc", "guide/grpc"},
	{"docker", "guide/deployment"},
	{"kubernetes", "guide/deployment"},
	{"proxy", "guide/deployment"},
	{"testing", "guide/testing"},
	{"mock", "base-go/plinthtest"},
	{"performance", "guide/performance"},
	{"getting started", "guide/quick-start"},
	{"install", "guide/quick-start"},
	{"upgrade", "guide/upgrading"},
	{"mcp", "guide/ai-integration"},
}

func TestIndex_Search_PlainQueries(t *testing.T) {
	ix := search.New(content(t))
	for _, test := range plainQueries {
		t.Run(test.query, func(t *testing.T) {
			got := pages(find(t, ix, search.Query{Text: test.query}))
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("got %q, want %s first", got[:min(3, len(got))], test.want)
			}
		})
	}
}

func TestIndex_Search_Java_Content(t *testing.T) {
	ix := search.New(content(t))
	t.Run("Java pages come last", func(t *testing.T) {
		for _, test := range plainQueries {
			got := pages(find(t, ix, search.Query{Text: test.query, Limit: search.MaxLimit}))
			first := slices.IndexFunc(got, isJava)
			if first >= 0 &&
				slices.ContainsFunc(got[first:], func(name string) bool { return !isJava(name) }) {
				t.Errorf("%q: got %q, want Java pages last", test.query, got[:first+2])
			}
		}
	})
	for _, test := range []struct{ query, want string }{
		{"java", "base-java"},
		{"java error codes", "base-java/error-codes"},
		{"java pagination", "base-java/ids-and-pages"},
		{"spring exceptions", "base-java/exceptions"},
		{"mybatis", "base-java/database"},
		{"flux", "base-java/streams"},
		{"PageDTO", "base-java/ids-and-pages"},
	} {
		t.Run(test.query, func(t *testing.T) {
			got := pages(find(t, ix, search.Query{Text: test.query}))
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("got %q, want %s first", got[:min(3, len(got))], test.want)
			}
		})
	}
	t.Run("a sector filter", func(t *testing.T) {
		want := pages(find(t, ix, search.Query{Text: "java error code", Limit: 1}))
		got := pages(find(t, ix, search.Query{Text: "error code", Sector: "base-java", Limit: 1}))
		if got[0] != want[0] {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestIndex_Search_UnknownWords(t *testing.T) {
	ix := search.New(content(t))
	for _, text := range []string{
		"elephant", "elephants", "blockchain", "graphql",
		"elephant giraffe", "how do I tame an elephant", "大象",
	} {
		if got := find(t, ix, search.Query{Text: text}); got.Total != 0 {
			t.Errorf("%q: got %d hits, first %q, want 0", text, got.Total, pages(got)[0])
		}
	}
}

func TestIndex_Search_Sector(t *testing.T) {
	ix := search.New(library(t, map[string]string{
		"go/one": "One\nPage.\ncache", "go-more/two": "Two\nPage.\ncache",
		"go-more/three": "Three\nPage.\ncache",
	}))
	for _, test := range []struct {
		name, sector, want string
	}{
		{"a whole name", "go", "go/one"},
		{"a longer name", "go-more", "go-more/three go-more/two"},
		{"a prefix of a name", "g", ""},
		{"an extended name", "go-mores", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := find(t, ix, search.Query{Text: "cache", Sector: test.sector})
			if got := strings.Join(pages(result), " "); got != test.want ||
				result.Total != len(result.Hits) {
				t.Errorf("sector %q: got %q of %d, want %q",
					test.sector, got, result.Total, test.want)
			}
		})
	}
}

func TestIndex_Search_Title(t *testing.T) {
	text := "\n" + strings.Repeat("rate limits and a flow rate limit. ", 30)
	ix := search.New(library(t, map[string]string{
		"a/text":  "Rates and limits of rate limits" + text + text,
		"a/title": "Rate limit\nPage.\nnothing else",
		"a/words": "Throttle\nPage.\nnothing else",
	}))
	if got := found(t, ix, "how do I use rate limits"); got[0] != "a/title" {
		t.Errorf("got %q, want the page with this title first", got)
	}
}

func isJava(name string) bool { return strings.HasPrefix(name, "base-java") }

// pages returns the distinct pages of hits in their order.
func pages(result search.Result) []string {
	var list []string
	seen := map[string]bool{}
	for _, h := range result.Hits {
		if n := name(h.Page); !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}
