package mcptools

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
)

const (
	mimeJSON = "application/json"
	mimeForm = "application/x-www-form-urlencoded"

	bodyName = "body" // of the argument with the whole body
)

// tool is an operation that clients can call.
type tool struct {
	op   *xapi.Operation
	tool *mcp.Tool
	args map[string]argument
	// wholeBody reports whether the argument "body" is the body. Otherwise arguments are
	// its members.
	wholeBody bool
	// wrapped reports whether the structured content has the data as its only member.
	wrapped bool
}

// argument describes which part of a request an argument is.
type argument struct {
	from      xvalid.Source
	name      string
	separator string // of the elements of a list; if it is empty, the name is repeated
}

// validName matches the names that the protocol allows.
var validName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func (c *config) newTool(op *xapi.Operation, d *document) (*tool, error) {
	if !validName.MatchString(op.ID) {
		return nil, fmt.Errorf("mcptools: the operation ID %q (%s) is not a valid name of a tool: "+
			"use letters, digits, underscores, hyphens and dots", op.ID, op.Position)
	}
	o := d.operations[op.ID]
	t := &tool{op: op, args: map[string]argument{}}
	t.tool = &mcp.Tool{
		Name: op.ID, Title: o.Summary, Description: cmp.Or(o.Description, o.Summary),
		InputSchema: t.input(c, d, o), Annotations: annotations(op.Method),
	}
	if o.Deprecated {
		t.tool.Description = "Deprecated. " + t.tool.Description
	}
	if s, wrapped := d.output(op); s != nil {
		t.tool.OutputSchema, t.wrapped = s, wrapped
	}
	return t, nil
}

// annotations returns the hints of a method (RFC 9110, section 9.2). POST has the
// defaults of the protocol.
func annotations(method string) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{}
	destructive := false
	switch method {
	case http.MethodGet, http.MethodHead:
		a.ReadOnlyHint, a.IdempotentHint = true, true
	case http.MethodPut, http.MethodDelete:
		a.IdempotentHint, destructive = true, true
	case http.MethodPatch:
		destructive = true
	default:
		return a
	}
	a.DestructiveHint = &destructive
	return a
}

// input returns the schema of the arguments.
func (t *tool) input(c *config, d *document, o *operation) object {
	properties, required := object{}, []string{}
	for i := range o.Parameters {
		p := &o.Parameters[i]
		a := argument{from: sources[p.In], name: p.Name, separator: paramSeparator(t.op, p)}
		if a.from == xvalid.Header && slices.Contains(c.headers, http.CanonicalHeaderKey(p.Name)) {
			continue // forwarded
		}
		name := p.Name
		if _, taken := t.args[name]; taken {
			name = p.In + "_" + p.Name
		}
		t.args[name], properties[name] = a, p.describe()
		if p.Required {
			required = append(required, name)
		}
	}
	if body := t.body(o); body != nil {
		members, names, ok := d.members(body)
		if t.wholeBody = !ok || t.collides(members); t.wholeBody {
			members, names = object{bodyName: body}, []string{bodyName}
		}
		for name := range members {
			t.args[name] = argument{
				from: xvalid.Body, name: name, separator: formSeparator(t.op, name),
			}
		}
		maps.Copy(properties, members)
		required = append(required, names...)
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return d.withDefinitions(s)
}

// body returns the schema of the body, or nil.
func (t *tool) body(o *operation) object {
	if t.op.Layout.Body == xbind.BodyForm {
		return o.RequestBody.Content[mimeForm].Schema
	}
	return o.RequestBody.Content[mimeJSON].Schema
}

// collides reports whether a member of the body has the name of a parameter.
func (t *tool) collides(members object) bool {
	for name := range t.args {
		if _, ok := members[name]; ok {
			return true
		}
	}
	return false
}

var sources = map[string]xvalid.Source{
	"path": xvalid.Path, "query": xvalid.Query, "header": xvalid.Header,
}

// paramSeparator returns the separator of the elements of a parameter, or "".
func paramSeparator(op *xapi.Operation, p *parameter) string {
	for i := range op.Layout.Params {
		if q := &op.Layout.Params[i]; q.Name == p.Name && q.From == sources[p.In] {
			return separatorOf(q)
		}
	}
	return ""
}

func formSeparator(op *xapi.Operation, name string) string {
	for i := range op.Layout.FormFields {
		if p := &op.Layout.FormFields[i]; p.Name == name {
			return separatorOf(p)
		}
	}
	return ""
}

// separatorOf returns the separator of the collection format of gin.
func separatorOf(p *xbind.Param) string {
	return map[string]string{"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}[p.Field.
		Tag.Get("collection_format")]
}
