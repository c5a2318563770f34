package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A definition is a tool: its description for clients and its function.
type definition struct {
	name, title, description string
	parameters               parameters
	output                   *jsonschema.Schema
	// run returns the structured result, which matches output, and a text. If the text is
	// empty, the JSON of the result is used. An error is shown to the model.
	run func(arguments) (result any, text string, err error)
}

// addTo registers the tool without the validation of the SDK, whose messages do not help
// a model.
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
		return failure(err), nil
	}
	result, text, err := t.run(args)
	if err != nil {
		return failure(err), nil
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

// failure returns a result with an error that a model can fix.
func failure(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}},
	}
}

// marshal returns JSON in which <, > and & are not escaped, to keep it readable.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("marshal the result: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// outputSchema returns the schema of T. Slices are never null, and fields may be added
// later. It panics if T has no schema.
func outputSchema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("tool: %v", err))
	}
	relax(s)
	return s
}

// relax removes null, and the ban on additional members, from a schema.
func relax(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	s.AdditionalProperties = nil
	relax(s.Items)
	for _, member := range s.Properties {
		relax(member)
	}
}
