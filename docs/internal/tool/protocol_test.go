package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/tool"
)

// legacy is the last version of the protocol with sessions.
const legacy = "2025-11-25"

func TestTools_Schemas(t *testing.T) {
	client := connect(t, config(t))
	got := map[string]string{}
	for s, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "null") {
			t.Errorf("%s has null: %s", s.Name, text)
		}
		in := s.InputSchema.(object)
		names := []string{}
		properties, _ := in["properties"].(object)
		for name, member := range properties {
			names = append(names, name)
			if member.(object)["description"] == nil {
				t.Errorf("%s: argument %s has no description", s.Name, name)
			}
		}
		slices.Sort(names)
		got[s.Name] = fmt.Sprint(names, in["required"])
		if s.Title == "" || s.Description == "" || in["type"] != "object" ||
			s.OutputSchema.(object)["type"] != "object" {
			t.Errorf("description of %s: %s", s.Name, text)
		}
		a := s.Annotations
		if !a.ReadOnlyHint || !a.IdempotentHint || *a.DestructiveHint || *a.OpenWorldHint {
			t.Errorf("%s has annotations %+v", s.Name, a)
		}
	}
	want := map[string]string{
		"sector": "[] <nil>", "list": "[search sector] [sector]",
		"detail": "[path sector] [sector path]",
		"search": "[cursor limit path query sector] [query]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestResources(t *testing.T) {
	t.Run("are all pages", func(t *testing.T) {
		client := connect(t, config(t))
		var got []string
		for r, err := range client.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatal(err)
			}
			c := read.Contents[0]
			if c.URI != r.URI || c.MIMEType != "text/markdown" || r.MIMEType != c.MIMEType ||
				int64(len(c.Text)) != r.Size ||
				!strings.HasPrefix(c.Text, "# "+r.Title+" (/docs/"+r.Name+")") ||
				r.Description == "" {
				t.Errorf("resource %+v is read as %+v", r, c)
			}
			got = append(got, r.URI)
		}
		want := []string{
			"docs:///base-go/xcache", "docs:///base-go/xdb", "docs:///guide",
			"docs:///guide/decisions/names", "docs:///guide/quick-start",
			"docs:///guide/quick-start.zh",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources (-want +got):\n%s", diff)
		}
	})

	t.Run("have a template", func(t *testing.T) {
		client := connect(t, config(t))
		for _, uri := range []string{
			"docs:///guide/quick-start.md", "docs:///guide/decisions/names/",
			"docs:///guide/quick-start#install-it",
		} {
			read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				t.Errorf("%s: %v", uri, err)
			} else if read.Contents[0].URI != uri {
				t.Errorf("%s is read as %s", uri, read.Contents[0].URI)
			}
		}
		for _, uri := range []string{
			"docs:///guide/nothing", "docs:///nothing/x",
			"docs://host/guide/quick-start", "file:///etc/passwd", "docs:///../guide",
		} {
			_, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: error is %v, want code %d", uri, err, jsonrpc.CodeInvalidParams)
			}
		}
	})
}

func TestPrompt(t *testing.T) {
	client := connect(t, config(t))
	r, err := client.GetPrompt(t.Context(), &mcp.GetPromptParams{
		Name:      "ask",
		Arguments: map[string]string{"question": "How does it close the database?"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Messages[0].Content.(*mcp.TextContent).Text
	for _, want := range []string{
		"How does it close the database?",
		"- xdb, Close (sector base-go, path /xdb): ", "detail",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt does not contain %q: %s", want, text)
		}
	}
	for _, arguments := range []map[string]string{
		nil,
		{"question": " "},
		{"question": "x", "sector": "nothing"},
	} {
		_, err := client.GetPrompt(t.Context(),
			&mcp.GetPromptParams{Name: "ask", Arguments: arguments})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams ||
			strings.Contains(wire.Message, "query") {
			t.Errorf("%v: error is %v, want code %d", arguments, err, jsonrpc.CodeInvalidParams)
		}
	}
}

func TestServer_Capabilities(t *testing.T) {
	t.Run("declare served methods only", func(t *testing.T) {
		client := connect(t, config(t))
		got, err := json.Marshal(client.InitializeResult().Capabilities)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"prompts":{},"resources":{},"tools":{}}`; string(got) != want {
			t.Errorf("capabilities are %s, want %s", got, want)
		}
		info := client.InitializeResult()
		if info.ServerInfo.Name != "plinth-docs" || info.ServerInfo.Version != "1.2.3" ||
			info.ServerInfo.WebsiteURL != base || info.Instructions == "" {
			t.Errorf("server is %+v", info)
		}
	})

	t.Run("reject undeclared methods", func(t *testing.T) {
		client := connectAs(t, config(t), legacy)
		_, complete := client.Complete(t.Context(), &mcp.CompleteParams{})
		for name, err := range map[string]error{
			"complete":  complete,
			"subscribe": client.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "docs:///guide"}),
			"unsubscribe": client.Unsubscribe(t.Context(),
				&mcp.UnsubscribeParams{URI: "docs:///guide"}),
			"level": client.SetLoggingLevel(t.Context(), //nolint:staticcheck // servers must still support it
				&mcp.SetLoggingLevelParams{Level: "info"}), //nolint:staticcheck // older clients send it
		} {
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeMethodNotFound {
				t.Errorf("%s: error is %v, want code %d", name, err, jsonrpc.CodeMethodNotFound)
			}
		}
	})

	t.Run("may be extended by options", func(t *testing.T) {
		c := config(t)
		c.Options = func(o *mcp.ServerOptions) *mcp.ServerOptions {
			o.Capabilities.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // older clients send it
			return o
		}
		client := connectAs(t, c, legacy)
		if err := client.SetLoggingLevel(t.Context(), //nolint:staticcheck // servers must still support it
			&mcp.SetLoggingLevelParams{Level: "info"}); err != nil { //nolint:staticcheck // as above
			t.Errorf("a declared method is rejected: %v", err)
		}
	})
}

func TestServer_Caching(t *testing.T) {
	client := connect(t, config(t))
	r, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.TTLMs != 300_000 || r.CacheScope != "public" {
		t.Errorf("tools may be cached for %d ms, scope %q", r.TTLMs, r.CacheScope)
	}
}

func TestServer_Panic(t *testing.T) {
	c := config(t)
	c.Index = nil // programming error
	client := connect(t, c)
	_, err := client.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "search", Arguments: object{"query": "x"}})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError ||
		wire.Message != "internal error" {
		t.Errorf("error is %v, want an internal error without details", err)
	}
	if _, text := call(t, client, "sector", `{}`); !strings.Contains(text, "guide") {
		t.Errorf("call after a panic: %s", text)
	}
}

var sink *mcp.Server

func BenchmarkNew(b *testing.B) {
	c := config(b)
	for b.Loop() {
		sink = tool.New(c)
	}
}

func BenchmarkCall(b *testing.B) {
	client := connect(b, config(b))
	for _, bc := range [][2]string{
		{"sector", `{}`},
		{"list", `{"sector":"guide"}`},
		{"detail", `{"sector":"guide","path":"/"}`},
		{"search", `{"query":"database"}`},
	} {
		b.Run(bc[0], func(b *testing.B) {
			for b.Loop() {
				call(b, client, bc[0], bc[1])
			}
		})
	}
}
