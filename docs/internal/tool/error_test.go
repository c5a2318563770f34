package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/tool"
)

func TestTools_Errors(t *testing.T) {
	client := connect(t, config(t))
	for _, tc := range []struct {
		name, tool, arguments string
		want                  []string
	}{
		{
			name: "missing sector", tool: "list", arguments: `{}`,
			want: []string{`argument "sector" is required`, "guide, base-go"},
		},
		{
			name: "null sector", tool: "list", arguments: `{"sector":null}`,
			want: []string{`argument "sector" is required`},
		},
		{
			name: "blank sector", tool: "list", arguments: `{"sector":" "}`,
			want: []string{`argument "sector" is required`},
		},
		{
			name: "no arguments", tool: "list", arguments: `null`,
			want: []string{`argument "sector" is required`},
		},
		{
			name: "an array", tool: "list", arguments: `[1]`,
			want: []string{"must be an object", "list accepts sector (required), search"},
		},
		{
			name: "a number", tool: "list", arguments: `{"sector":5}`,
			want: []string{`argument "sector" must be a string`},
		},
		{
			name: "unknown sector", tool: "list", arguments: `{"sector":"giude"}`,
			want: []string{`sector "giude" not found`, `nearest is "guide"`, "call sector"},
		},
		{
			name: "unknown argument", tool: "list", arguments: `{"sector":"guide","query":"x"}`,
			want: []string{
				`list has no argument "query"`,
				"list accepts sector (required), search",
			},
		},
		{
			name: "many unknown arguments", tool: "sector",
			arguments: `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`,
			want:      []string{`sector has no argument "a", "b", "c", "d", "e" and 2 more; sector accepts no arguments`},
		},
		{
			name: "argument of a tool without arguments", tool: "sector", arguments: `{"a":1}`,
			want: []string{`sector has no argument "a"`, "accepts no arguments"},
		},
		{
			name: "two errors", tool: "search", arguments: `{"sector":1,"x":2}`,
			want: []string{`"query" is required`, `"sector" must be a string`, `"x"`},
		},
		{
			name: "missing path", tool: "detail", arguments: `{"sector":"guide"}`,
			want: []string{`argument "path" is required`, "call list"},
		},
		{
			name: "unknown page", tool: "detail",
			arguments: `{"sector":"guide","path":"/quikstart"}`,
			want: []string{
				`sector "guide" has no page "/quikstart"`,
				`"/quick-start" (Quick start)`, "call list",
			},
		},
		{
			name: "another sector", tool: "detail",
			arguments: `{"sector":"guide","path":"/docs/base-go/xdb"}`,
			want:      []string{`sector "base-go" and path "/xdb"`},
		},
		{
			name: "another sector without docs", tool: "detail",
			arguments: `{"sector":"guide","path":"base-go/xdb"}`,
			want:      []string{`sector "base-go" and path "/xdb"`},
		},
		{
			name: "unknown sector in the path", tool: "detail",
			arguments: `{"sector":"guide","path":"/docs/java/x"}`,
			want:      []string{`sector "java" not found`},
		},
		{
			name: "another site", tool: "detail",
			arguments: `{"sector":"guide","path":"https://evil.example/docs/guide/quick-start"}`,
			want:      []string{"not an address of this documentation", base + "/docs"},
		},
		{
			name: "traversal", tool: "detail",
			arguments: `{"sector":"guide","path":"../../../etc/passwd"}`,
			want:      []string{"has no page"},
		},
		{
			name: "encoded traversal", tool: "detail",
			arguments: `{"sector":"guide","path":"%2e%2e%2f%2e%2e%2fetc/passwd"}`,
			want:      []string{"has no page"},
		},
		{
			name: "empty query", tool: "search", arguments: `{"query":""}`,
			want: []string{`argument "query" is required`, "call list"},
		},
		{
			name: "query without a word", tool: "search", arguments: `{"query":"?!"}`,
			want: []string{`argument "query" has no word`},
		},
		{
			name: "search of an unknown sector", tool: "search",
			arguments: `{"query":"x","sector":"base_go"}`, want: []string{`nearest is "base-go"`},
		},
		{
			name: "search of an unknown page", tool: "search",
			arguments: `{"query":"x","path":"/xdbb"}`,
			want:      []string{`no sector has a page "/xdbb"`, `"/xdb" of sector "base-go"`},
		},
		{
			name: "limit of 0", tool: "search", arguments: `{"query":"x","limit":0}`,
			want: []string{`"limit" must be an integer from 1 to 100`},
		},
		{
			name: "limit as a string", tool: "search", arguments: `{"query":"x","limit":"5"}`,
			want: []string{`"limit" must be an integer from 1 to 100`},
		},
		{
			name: "fractional limit", tool: "search", arguments: `{"query":"x","limit":2.5}`,
			want: []string{`"limit" must be an integer from 1 to 100`},
		},
		{
			name: "huge limit", tool: "search", arguments: `{"query":"x","limit":1e300}`,
			want: []string{`"limit" must be an integer from 1 to 100`},
		},
		{
			name: "long path", tool: "detail",
			arguments: `{"sector":"guide","path":"` + strings.Repeat("ä", 1001) + `"}`,
			want:      []string{`"path" has 1001 characters; the maximum is 1000`},
		},
		{
			name: "cursor of another search", tool: "search",
			arguments: `{"query":"x","cursor":"MS4wMDAwMDAwMA"}`,
			want:      []string{`"cursor" was not returned by this search`},
		},
		{
			name: "broken cursor", tool: "search", arguments: `{"query":"x","cursor":"%%%"}`,
			want: []string{`"cursor" was not returned by this search`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result, text := call(t, client, tc.tool, tc.arguments)
			if !result.IsError || result.StructuredContent != nil {
				t.Fatalf("got no error: %s", text)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("the text does not contain %q: %s", want, text)
				}
			}
		})
	}
}

func TestTools_Arguments(t *testing.T) {
	t.Run("are truncated in errors", func(t *testing.T) {
		client := connect(t, config(t))
		long := strings.Repeat("ä", 100_000)
		_, text := call(t, client, "sector", `{"`+long+`":1}`)
		_, unknown := client.CallTool(t.Context(), &mcp.CallToolParams{Name: long})
		for _, text := range []string{text, fmt.Sprint(unknown)} {
			if len(text) > 1000 || !strings.Contains(text, "ä…") {
				t.Errorf("%d bytes: %.300s", len(text), text)
			}
		}
	})

	t.Run("accept an integer with a fraction of zero", func(t *testing.T) {
		if result, text := call(t, connect(t, config(t)), "search",
			`{"query":"xdb","limit":2.0}`); result.IsError {
			t.Error(text)
		}
	})
}

func TestServer_UnknownNames(t *testing.T) {
	client := connect(t, config(t))
	_, noTool := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "serch"})
	_, noPrompt := client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "aks"})
	for err, want := range map[error]string{
		noTool:   "the tools are sector, list, detail, search",
		noPrompt: "the prompt is ask",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to contain %q", err, want)
		}
	}
}

func TestDetail_Path(t *testing.T) {
	below := config(t)
	below.BaseURL = "https://example.org/plinth"
	for _, tc := range []struct {
		name   string
		config tool.Config
		path   string
		want   string
	}{
		{name: "bare", path: "quick-start", want: "/quick-start"},
		{name: "slashes", path: "//quick-start/", want: "/quick-start"},
		{name: "file", path: "quick-start.md", want: "/quick-start"},
		{name: "anchor", path: "/quick-start#install-it", want: "/quick-start"},
		{name: "query", path: "/quick-start?x=1", want: "/quick-start"},
		{name: "upper case", path: "/Quick-Start", want: "/quick-start"},
		{name: "with sector", path: "guide/quick-start", want: "/quick-start"},
		{name: "with docs", path: "/docs/guide/quick-start", want: "/quick-start"},
		{
			name: "with docs, without a slash", path: "docs/guide/quick-start.md#x",
			want: "/quick-start",
		},
		{name: "address", path: base + "/docs/guide/quick-start#install-it", want: "/quick-start"},
		{
			name: "address of the Markdown", path: base + "/llms.mdx/docs/guide/quick-start",
			want: "/quick-start",
		},
		{name: "resource", path: "docs:///guide/quick-start", want: "/quick-start"},
		{name: "resource of a sector", path: "docs:///guide", want: "/"},
		{name: "encoded", path: "/decisions%2Fnames", want: "/decisions/names"},
		{name: "index", path: "/", want: "/"},
		{name: "index by name", path: "index.md", want: "/"},
		{name: "sector alone", path: "/docs/guide", want: "/"},
		{name: "sector with a suffix", path: "/docs/guide.mdx", want: "/"},
		{name: "translation", path: "/quick-start.zh", want: "/quick-start.zh"},
		{
			name: "site with a path prefix", config: below,
			path: "https://example.org/plinth/docs/guide/quick-start", want: "/quick-start",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.config.Library == nil {
				tc.config = config(t)
			}
			result, text := call(t, connect(t, tc.config), "detail",
				fmt.Sprintf(`{"sector":"guide","path":%q}`, tc.path))
			got, _ := result.StructuredContent.(object)
			if result.IsError || got["path"] != tc.want {
				t.Errorf("path is %v, want %s: %s", got["path"], tc.want, text)
			}
		})
	}
}
