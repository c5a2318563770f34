package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/docs/internal/doctest"
	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
	"github.com/plinthgo/plinth/docs/internal/tool"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

const base = "https://docs.example.com"

func library(tb testing.TB) *page.Library {
	tb.Helper()
	return doctest.Library(tb, map[string]string{
		"guide/order.yaml": "title: Guide\ndescription: How to begin & go on.\npages: [quick-start, decisions/]\n",
		"guide/index.md":   doctest.Page("Overview", "See the other pages."),
		"guide/quick-start.md": doctest.Page("Quick start",
			"Before.\n\n## Install it\n\nRun `go get` <now>.\n\n[xdb](../base-go/xdb.md)"),
		"guide/quick-start.zh.md":    doctest.Page("快速开始", "## 安装\n\n使用缓存 Redis。"),
		"guide/decisions/order.yaml": "title: Decisions\npages: [names]\n",
		"guide/decisions/names.md":   doctest.Page("Names", "Why names are names."),
		"base-go/order.yaml":         "title: Go library\ndescription: The packages.\npages: [xdb, xcache]\n",
		"base-go/xdb.md": doctest.Page("xdb",
			"## Open\n\nIt opens a database: DATABASE_DRIVER.\n\n## Close\n\nIt closes the database."),
		"base-go/xcache.md": doctest.Page("xcache", "A cache in memory or in Redis."),
	})
}

func config(tb testing.TB) tool.Config {
	tb.Helper()
	l := library(tb)
	return tool.Config{Library: l, Index: search.New(l), BaseURL: base + "/", Version: "1.2.3"}
}

// connect returns a client connected in memory, with the latest version of the protocol.
func connect(tb testing.TB, c tool.Config) *mcp.ClientSession {
	tb.Helper()
	return connectAs(tb, c, "")
}

func connectAs(tb testing.TB, c tool.Config, version string) *mcp.ClientSession {
	tb.Helper()
	clientSide, serverSide := mcp.NewInMemoryTransports()
	server, err := tool.New(c).Connect(tb.Context(), serverSide, nil)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
		nil).Connect(tb.Context(), clientSide,
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = client.Close()
		_ = server.Wait()
	})
	return client
}

// call returns the structured content and the text of a result.
func call(
	tb testing.TB, client *mcp.ClientSession, name, arguments string,
) (result *mcp.CallToolResult, text string) {
	tb.Helper()
	result, err := client.CallTool(tb.Context(),
		&mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		tb.Fatalf("%s %s: %v", name, arguments, err)
	}
	if len(result.Content) != 1 {
		tb.Fatalf("%s %s: %d contents, want 1", name, arguments, len(result.Content))
	}
	return result, result.Content[0].(*mcp.TextContent).Text
}

type object = map[string]any

func TestTools_Results(t *testing.T) {
	client := connect(t, config(t))
	quick := "# Quick start (/docs/guide/quick-start)\n\nBefore.\n\n## Install it\n\nRun `go get` <now>.\n\n[xdb](/docs/base-go/xdb)\n"
	for _, tc := range []struct {
		name, tool, arguments string
		text                  string // empty if the text is the JSON of the result
		want                  object
	}{
		{
			name: "sector", tool: "sector", arguments: `{}`,
			want: object{"sectors": []any{"guide", "base-go"}, "details": []any{
				object{"name": "guide", "title": "Guide", "description": "How to begin & go on."},
				object{"name": "base-go", "title": "Go library", "description": "The packages."},
			}},
		},
		{
			name: "list", tool: "list", arguments: `{"sector":"base-go"}`,
			want: object{"sector": "base-go", "baseUrl": base + "/docs/base-go", "documents": []any{
				object{"path": "/xdb", "title": "xdb", "description": "About xdb."},
				object{"path": "/xcache", "title": "xcache", "description": "About xcache."},
			}},
		},
		{
			name: "list without a match", tool: "list",
			arguments: `{"sector":"base-go","search":"nowhere"}`,
			want: object{
				"sector": "base-go", "baseUrl": base + "/docs/base-go",
				"documents": []any{},
			},
		},
		{
			name: "detail", tool: "detail", arguments: `{"sector":"guide","path":"/quick-start"}`,
			text: quick,
			want: object{
				"sector": "guide", "path": "/quick-start", "title": "Quick start",
				"url": base + "/docs/guide/quick-start", "content": quick,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result, text := call(t, client, tc.tool, tc.arguments)
			if diff := cmp.Diff(any(tc.want), result.StructuredContent); result.IsError ||
				diff != "" {
				t.Errorf("structured content (-want +got):\n%s\n%s", diff, text)
			}
			if tc.text == "" {
				tc.text = text
				var same any
				if err := json.Unmarshal([]byte(text), &same); err != nil ||
					!cmp.Equal(same, result.StructuredContent) || strings.Contains(text, `\u00`) {
					t.Errorf("the text is not the JSON of the result: %s", text)
				}
			}
			if text != tc.text {
				t.Errorf("text is %q, want %q", text, tc.text)
			}
		})
	}
}

// results is a page of search results.
type results struct {
	Query, Sector, Path string
	TotalResults        int
	Results             []struct {
		Title, Sector, DetailPath, Excerpt, Heading, Anchor, URL string
		Score                                                    float64
	}
	Suggestions []string
	Message     string
	NextCursor  string
}

func find(tb testing.TB, client *mcp.ClientSession, arguments string) results {
	tb.Helper()
	result, text := call(tb, client, "search", arguments)
	var r results
	if err := json.Unmarshal([]byte(text), &r); err != nil || result.IsError {
		tb.Fatalf("search %s: %s", arguments, text)
	}
	return r
}

func TestSearch_Detail(t *testing.T) {
	client := connect(t, config(t))
	for _, tc := range []struct {
		name, arguments string
		want            string // address of the first result
	}{
		{name: "word", arguments: `{"query":"closes"}`, want: base + "/docs/base-go/xdb#close"},
		{
			name: "variable", arguments: `{"query":"DATABASE_DRIVER","sector":"base-go"}`,
			want: base + "/docs/base-go/xdb#open",
		},
		{
			name: "Chinese", arguments: `{"query":"安装"}`,
			want: base + "/docs/guide/quick-start.zh#安装",
		},
		{
			name: "page", arguments: `{"query":"closes","path":"/docs/base-go/xdb.md#open"}`,
			want: base + "/docs/base-go/xdb#close",
		},
		{
			name: "directory", arguments: `{"query":"names","path":"/decisions/"}`,
			want: base + "/docs/guide/decisions/names",
		},
		{name: "nulls", arguments: `{"query":"closes","sector":null,"path":null,"limit":null,"cursor":null}`, want: base + "/docs/base-go/xdb#close"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := find(t, client, tc.arguments)
			if len(r.Results) == 0 || r.TotalResults < len(r.Results) ||
				r.Results[0].URL != tc.want {
				t.Fatalf("result is %+v, want %s first", r, tc.want)
			}
			first := r.Results[0]
			if first.Score <= 0 || first.Excerpt == "" {
				t.Errorf("first result is %+v", first)
			}
			arguments, _ := json.Marshal(object{"sector": first.Sector, "path": first.DetailPath})
			if result, text := call(t, client, "detail", string(arguments)); result.IsError ||
				!strings.HasPrefix(text, "# "+first.Title+" (") {
				t.Errorf("detail returned %s", text)
			}
		})
	}
}

func TestSearch_Message(t *testing.T) {
	client := connect(t, config(t))
	for _, test := range []struct{ name, query, want string }{
		{"points at suggestions", "databse", "nothing was found; try one of the suggestions"},
		{
			"points at list", "zzzz",
			"nothing was found; try other words, or call list for the pages of a sector",
		},
		{"is absent if there are results", "database", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := find(t, client, `{"query":"`+test.query+`"}`)
			if got.Message != test.want || (got.TotalResults == 0) != (test.want != "") {
				t.Errorf("got message %q with %d results, want %q",
					got.Message, got.TotalResults, test.want)
			}
		})
	}
}

func TestSearch_Cursor(t *testing.T) {
	client := connect(t, config(t))
	all := find(t, client, `{"query":"database cache names"}`)
	if all.TotalResults < 3 || all.NextCursor != "" {
		t.Fatalf("result is %+v", all)
	}
	var got []string
	for cursor := ""; ; {
		r := find(t, client, fmt.Sprintf(`{"query":"database cache names","limit":1,"cursor":%q}`,
			cursor))
		got = append(got, r.Results[0].URL)
		if cursor = r.NextCursor; cursor == "" {
			break
		}
	}
	var want []string
	for _, r := range all.Results {
		want = append(want, r.URL)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestList_Search(t *testing.T) {
	client := connect(t, config(t))
	for _, tc := range []struct {
		name, search string
		want         []string
	}{
		{name: "title", search: "QUICK", want: []string{"/quick-start", "/quick-start.zh"}},
		{name: "description", search: "about overview", want: []string{"/"}},
		{name: "path", search: "decisions/", want: []string{"/decisions/names"}},
		{name: "text", search: "go GET", want: []string{"/quick-start"}},
		{name: "heading", search: "install", want: []string{"/quick-start"}},
		{name: "Chinese", search: "缓存", want: []string{"/quick-start.zh"}},
		{name: "address of a link", search: "/docs/base-go", want: []string{}},
		{
			name: "blank", search: "  ",
			want: []string{"/", "/quick-start", "/quick-start.zh", "/decisions/names"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, text := call(t, client, "list",
				fmt.Sprintf(`{"sector":"guide","search":%q}`, tc.search))
			var r struct{ Documents []struct{ Path string } }
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, d := range r.Documents {
				got = append(got, d.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTools_Results_Schemas(t *testing.T) {
	client := connect(t, config(t))
	schemas := map[string]*jsonschema.Resolved{}
	for s, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schemas[s.Name] = resolve(t, s.OutputSchema)
	}
	for _, c := range [][2]string{
		{"sector", `{}`},
		{"list", `{"sector":"guide","search":"zzz"}`},
		{"list", `{"sector":"guide"}`},
		{"detail", `{"sector":"guide","path":"/"}`},
		{"search", `{"query":"zzzz"}`},
		{"search", `{"query":"databse"}`},
		{"search", `{"query":"database","limit":1}`},
	} {
		result, text := call(t, client, c[0], c[1])
		if err := schemas[c[0]].Validate(result.StructuredContent); err != nil ||
			strings.Contains(text, "null") {
			t.Errorf("%s %s: %v: %s", c[0], c[1], err, text)
		}
	}
}

func resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestServer_Concurrent(t *testing.T) {
	server := tool.New(config(t))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			clientSide, serverSide := mcp.NewInMemoryTransports()
			s, err := server.Connect(t.Context(), serverSide, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = s.Wait() }()
			client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
				nil).Connect(t.Context(), clientSide, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = client.Close() }()
			for name, arguments := range map[string]object{
				"sector": {}, "list": {"sector": "guide"},
				"detail": {"sector": "guide", "path": "/quick-start"},
				"search": {"query": "database"},
			} {
				result, err := client.CallTool(context.WithoutCancel(t.Context()),
					&mcp.CallToolParams{Name: name, Arguments: arguments})
				if err != nil || result.IsError {
					t.Errorf("%s: %+v, %v", name, result, err)
				}
			}
		})
	}
	all.Wait()
}
