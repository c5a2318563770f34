package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A definition is a tool: what a client is told of it, and what it does.
type definition struct {
	name, title, description string
	parameters               parameters
	output                   *jsonschema.Schema
	// run returns the structured result, which marshals to what output describes, and a
	// text where it is not to be the same JSON. Its error is for the model to read.
	run func(arguments) (result any, text string, err error)
}

// addTo registers the tool without the SDK's own validation, whose messages a model
// cannot act on.
func (t definition) addTo(server *mcp.Server) {
	no := false
	server.AddTool(&mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: t.parameters.schema(), OutputSchema: t.output,
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no,
			OpenWorldHint: &no,
		},
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return t.call(r.Params.Arguments)
	})
}

func (t definition) call(input json.RawMessage) (*mcp.CallToolResult, error) {
	args, err := t.parameters.parse(t.name, input)
	if err != nil {
		return mistake(err), nil
	}
	result, text, err := t.run(args)
	if err != nil {
		return mistake(err), nil
	}
	structured, err := marshal(result)
	if err != nil {
		return nil, fmt.Errorf("tool: %s: %w", t.name, err)
	}
	if text == "" {
		text = string(structured)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: structured,
	}, nil
}

// mistake is a result that a model can learn from.
func mistake(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}},
	}
}

// marshal leaves <, > and & as they are, for those who read the text.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("marshal the result: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// outputSchema describes T. Slices are arrays, never null; members may be added later. T
// is one of this package's types, which all have a schema.
func outputSchema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("tool: %v", err))
	}
	settle(s)
	return s
}

// settle takes null and the ban on further members out of a schema.
func settle(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	s.AdditionalProperties = nil
	settle(s.Items)
	for _, member := range s.Properties {
		settle(member)
	}
}
