package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lean replaces the results of tools by ones that are written in one pass. It must be the outermost middleware: the SDK's own
// wants the results as it knows them.
func lean(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if called, ok := result.(*mcp.CallToolResult); ok && err == nil {
			return leanResult{called}, nil
		}
		return result, err
	}
}

// A leanResult is a result that the SDK still completes, with the kind of result for instance. The SDK itself writes the text and the
// structured content, which are nearly all of it, one time more, and with three bytes more for every <, > and &.
type leanResult struct{ *mcp.CallToolResult }

// MarshalJSON implements json.Marshaler.
func (r leanResult) MarshalJSON() ([]byte, error) {
	structured, ok := r.StructuredContent.(json.RawMessage)
	if !ok || len(r.Content) != 1 {
		return r.CallToolResult.MarshalJSON()
	}
	content, ok := r.Content[0].(*mcp.TextContent)
	if !ok || content.Annotations != nil || len(content.Meta) > 0 {
		return r.CallToolResult.MarshalJSON()
	}
	text, err := marshal(content.Text)
	if err != nil {
		return nil, err
	}
	rest, err := r.rest()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, len(text)+len(structured)+256)) // enough for what is not text
	b.WriteString(`{"content":[{"type":"text","text":`)
	b.Write(text)
	b.WriteString(`}],"structuredContent":`)
	b.Write(structured)
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		b.WriteString(`,"` + name + `":`)
		b.Write(rest[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// rest are the members that the SDK would write besides content and structuredContent.
func (r leanResult) rest() (map[string]json.RawMessage, error) {
	shell := *r.CallToolResult
	shell.Content, shell.StructuredContent = []mcp.Content{}, nil
	text, err := shell.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("tool: marshal the result: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("tool: marshal the result: %w", err)
	}
	delete(members, "content")
	return members, nil
}
