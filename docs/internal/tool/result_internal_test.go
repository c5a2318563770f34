package tool

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestALeanResultSaysWhatTheSDKWouldSay(t *testing.T) {
	structured := json.RawMessage(`{"a":"<b> & \"c\"","n":1}`)
	failed := &mcp.CallToolResult{}
	failed.SetError(errors.New("wrong"))
	for name, result := range map[string]*mcp.CallToolResult{
		"text and structure": {Content: []mcp.Content{&mcp.TextContent{Text: "<b> & \"c\"\n缓存 \u2028"}}, StructuredContent: structured},
		"metadata": {
			Meta: mcp.Meta{"k": "v"}, Content: []mcp.Content{&mcp.TextContent{Text: "x"}}, StructuredContent: structured,
		},
		"an error with structure": {Content: []mcp.Content{&mcp.TextContent{Text: "x"}}, StructuredContent: structured, IsError: true},
		"an error":                failed,
		"no structure":            {Content: []mcp.Content{&mcp.TextContent{Text: "x"}}},
		"no text":                 {Content: []mcp.Content{}, StructuredContent: structured},
		"an annotated text": {
			Content: []mcp.Content{&mcp.TextContent{Text: "x", Annotations: &mcp.Annotations{Priority: 1}}}, StructuredContent: structured,
		},
		"a text with metadata": {Content: []mcp.Content{&mcp.TextContent{Text: "x", Meta: mcp.Meta{"k": "v"}}}, StructuredContent: structured},
		"an image":             {Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: []byte{1}}}, StructuredContent: structured},
	} {
		if diff := cmp.Diff(asAny(t, result), asAny(t, leanResult{result})); diff != "" {
			t.Errorf("%s (-SDK +lean):\n%s", name, diff)
		}
	}
}

func asAny(t *testing.T, v any) (decoded any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return decoded
}
