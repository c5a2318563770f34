package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestGoClient(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	program := binary(t)
	s := start(t, program)
	for _, tc := range []struct {
		name      string
		protocol  string
		transport func(ctx context.Context) mcp.Transport
	}{
		{
			name: "HTTP, newest", protocol: "2026-07-28",
			transport: func(context.Context) mcp.Transport {
				return &mcp.StreamableClientTransport{Endpoint: s.endpoint()}
			},
		},
		{
			name: "HTTP, with a handshake", protocol: "2025-11-25",
			transport: func(context.Context) mcp.Transport {
				return &mcp.StreamableClientTransport{Endpoint: s.endpoint()}
			},
		},
		{
			name: "standard input and output", protocol: "2026-07-28",
			transport: func(ctx context.Context) mcp.Transport {
				return &mcp.CommandTransport{Command: exec.CommandContext(ctx, program, "mcp")}
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
			session, err := client.Connect(ctx, tc.transport(ctx),
				&mcp.ClientSessionOptions{ProtocolVersion: tc.protocol})
			if err != nil {
				t.Fatal(err)
			}
			got := converse(t, session)
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			if got.Protocol != tc.protocol {
				t.Errorf("protocol = %q, want %q", got.Protocol, tc.protocol)
			}
			got.check(t)
		})
	}
}

// converse lists and calls the tools as testdata/client.mjs does.
func converse(t *testing.T, session *mcp.ClientSession) (got results) {
	t.Helper()
	got.Protocol = session.InitializeResult().ProtocolVersion
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		got.Tools = append(got.Tools, tool.Name)
	}
	into := func(name string, arguments map[string]any, result any) {
		if err := callTool(t, session, name, arguments, result); err != nil {
			t.Fatalf("%s %v: %v", name, arguments, err)
		}
	}
	into("sector", nil, &got)
	if len(got.Sectors) == 0 {
		t.Fatal("no sectors")
	}
	sector := got.Sectors[0]
	into("list", map[string]any{"sector": sector}, &got.List)
	if len(got.List.Documents) == 0 {
		t.Fatal("no documents")
	}
	into("detail", map[string]any{"sector": sector, "path": got.List.Documents[0].Path},
		&got.Detail)
	into("search", map[string]any{"query": "database"}, &got.Search)
	if err := callTool(t, session, "detail",
		map[string]any{"sector": sector, "path": "/no/such/page"}, nil); err != nil {
		got.Unknown.IsError, got.Unknown.Text = true, err.Error()
	}
	return got
}

// callTool decodes the structured content of a result. An error result is an error with
// its text.
func callTool(
	t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any, result any,
) error {
	t.Helper()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError {
		text, _ := r.Content[0].(*mcp.TextContent)
		return errors.New(text.Text)
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, result)
}
