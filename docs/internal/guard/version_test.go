package guard_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

const modern = "2026-07-28"

var legacy = []string{"", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// request returns a call of a protocol version with its headers.
func request(version, method, params string) call {
	c := call{header: map[string]string{}}
	if version != "" {
		c.header["MCP-Protocol-Version"] = version
	}
	if version == modern {
		c.header["Mcp-Method"] = method
		if params != "" {
			params += ","
		}
		params += fmt.Sprintf(
			`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, version)
	}
	c.body = fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","method":%q,"params":{%s}}`, method, params)
	return c
}

func TestGuard_Versions(t *testing.T) {
	url := serve(t, guard.Config{}, endpoint())
	for _, version := range append(legacy, modern) {
		t.Run("version "+version, func(t *testing.T) {
			c := request(version, "tools/call", `"name":"hello","arguments":{}`)
			c.header["Mcp-Name"] = "hello"
			res := c.do(t, url)
			if got, want := res.read(t), (result{Status: 200, ID: `"a"`}); got != want {
				t.Errorf("result is %+v, want %+v: %s", got, want, res.body)
			}
		})
	}
}

func TestGuard_Versions_OldErrors(t *testing.T) {
	url := serve(t, guard.Config{}, endpoint())
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"nothing"}]`
	for _, version := range legacy {
		t.Run("version "+version, func(t *testing.T) {
			header := request(version, "", "").header
			for _, tc := range []struct {
				name string
				call call
				want result
			}{
				{
					name: "unknown method", call: request(version, "nothing", ""),
					want: result{Status: 200, Code: -32601, ID: `"a"`},
				},
				{
					name: "empty method",
					call: request(version, "", ""),
					want: result{Status: 200, Code: -32601, ID: `"a"`},
				},
				{
					name: "discovery", call: request(version, "server/discover", ""),
					want: result{Status: 200, Code: -32601, ID: `"a"`},
				},
				{
					name: "unknown tool", call: request(version, "tools/call", `"name":"nothing"`),
					want: result{Status: 200, Code: -32602, ID: `"a"`},
				},
				{
					name: "unknown notification", want: result{Status: 202},
					call: call{
						header: header,
						body:   `{"jsonrpc":"2.0","method":"notifications/nothing"}`,
					},
				},
				{
					name: "a notification",
					call: call{
						header: header,
						body:   `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
					},
					want: result{Status: 202},
				},
				{
					name: "batch with an unknown method",
					call: call{header: header, body: batch}, want: batchError(version),
				},
			} {
				t.Run(tc.name, func(t *testing.T) {
					res := tc.call.do(t, url)
					if diff := cmp.Diff(tc.want, res.read(t)); diff != "" {
						t.Errorf("result (-want +got):\n%s\n%s", diff, res.body)
					}
				})
			}
		})
	}
}

// batchError is the response to a batch with an unknown method, and to any batch in
// versions without batches.
func batchError(version string) result {
	if version >= "2025-06-18" {
		return result{Status: 400, Code: -32600}
	}
	return result{Status: 400, Code: -32601}
}

func TestGuard_Versions_NewErrors(t *testing.T) {
	url := serve(t, guard.Config{}, endpoint())
	with := func(c call, name, value string) call {
		c.header[name] = value
		return c
	}
	for _, tc := range []struct {
		name string
		call call
		want result
	}{
		{
			name: "unknown method", call: request(modern, "nothing", ""),
			want: result{Status: 404, Code: -32601, ID: `"a"`},
		},
		{
			name: "removed method",
			call: request(modern, "ping", ""), want: result{Status: 404, Code: -32601, ID: `"a"`},
		},
		{name: "unknown tool", call: with(request(modern, "tools/call", `"name":"x"`), "Mcp-Name",
			"x"), want: result{Status: 400, Code: -32602, ID: `"a"`}},
		{
			name: "no name", call: request(modern, "tools/call", `"name":"hello"`),
			want: result{Status: 400, Code: -32020, ID: `"a"`},
		},
		{name: "another method", call: with(request(modern, "tools/list", ""), "Mcp-Method",
			"ping"), want: result{Status: 400, Code: -32020, ID: `"a"`}},
		{
			name: "another version",
			call: with(request(modern, "tools/list", ""), "MCP-Protocol-Version", "2027-01-01"),
			want: result{Status: 400, Code: -32020, ID: `"a"`},
		},
		{
			name: "resumption", call: with(request(modern, "tools/list", ""), "Last-Event-ID", "1"),
			want: result{Status: 400, Code: -32600, ID: `"a"`},
		},
		{
			name: "a batch", call: call{
				header: request(modern, "tools/list", "").header,
				body:   "[" + listTools + "]",
			},
			want: result{Status: 400, Code: -32600},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := tc.call.do(t, url)
			if diff := cmp.Diff(tc.want, res.read(t)); diff != "" {
				t.Errorf("result (-want +got):\n%s\n%s", diff, res.body)
			}
		})
	}
}

func TestGuard_Versions_Unknown(t *testing.T) {
	url := serve(t, guard.Config{}, endpoint())
	res := request("1999-12-31", "tools/list", "").do(t, url)
	if got, want := res.read(t), (result{Status: 400, Code: -32022, ID: `"a"`}); got != want {
		t.Fatalf("result is %+v, want %+v: %s", got, want, res.body)
	}
	var m struct {
		Error struct {
			Data mcp.UnsupportedProtocolVersionData
		}
	}
	if err := json.Unmarshal([]byte(res.body), &m); err != nil {
		t.Fatal(err)
	}
	want := mcp.UnsupportedProtocolVersionData{
		Requested: "1999-12-31",
		Supported: mcp.SupportedProtocolVersions(),
	}
	if diff := cmp.Diff(want, m.Error.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}
