package spec

import (
	"slices"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// Response is a response to an operation.
type Response struct {
	Status, Description string
	Headers             []Field
	Contents            []Content
	// Errors are the error codes of the status, or empty.
	Errors []ErrorCode
}

// ErrorCode is an error code in the body of a response.
type ErrorCode struct {
	Number, Label string
	Messages      []Message
}

// Message is a message in a language. The language is empty if the document does not
// declare it.
type Message struct {
	Language, Text string
}

// IsError reports whether the status is an error.
func (r *Response) IsError() bool {
	return r.Status == "default" || (r.Status != "" && r.Status[0] >= '4')
}

// Responses returns the responses in the order of the document.
func (o *Operation) Responses() []Response {
	var list []Response
	for _, member := range o.node.Get("responses").Members() {
		node := o.doc.Resolve(member.Value)
		r := Response{Status: member.Name, Description: node.Get("description").Str()}
		if r.IsError() {
			r.Errors = o.doc.errorCodes(node)
		}
		r.Contents = o.doc.contents(node, false)
		for _, h := range node.Get("headers").Members() {
			header := o.doc.Resolve(h.Value)
			shape := o.doc.Shape(header.Get("schema"))
			if text := header.Get("description").Str(); text != "" {
				shape.Description = text
			}
			r.Headers = append(r.Headers, Field{
				Name: h.Name, Required: header.Get("required").True(), Shape: shape,
			})
		}
		list = append(list, r)
	}
	return list
}

// Codes returns the error codes of all responses.
func (o *Operation) Codes() []ErrorCode {
	var list []ErrorCode
	for _, member := range o.node.Get("responses").Members() {
		r := Response{Status: member.Name}
		if r.IsError() {
			list = append(list, o.doc.errorCodes(o.doc.Resolve(member.Value))...)
		}
	}
	return list
}

// errorCodes returns the error codes of a response: those of its examples, else those of
// its schema.
func (d *Document) errorCodes(response *jsontree.Value) []ErrorCode {
	var list []ErrorCode
	for _, content := range response.Get("content").Members() {
		media := d.Resolve(content.Value)
		for _, member := range media.Get("examples").Members() {
			list = appendCode(list, exampleCode(member.Name, d.Resolve(member.Value)))
		}
		if value := media.Get("example"); value != nil {
			example := jsontree.NewObject()
			example.Set("value", value)
			list = appendCode(list, exampleCode("", example))
		}
		for _, c := range d.schemaCodes(d.schema(media.Get("schema"))) {
			list = appendCode(list, c)
		}
	}
	return list
}

// appendCode appends a code unless it is empty or already in the list.
func appendCode(list []ErrorCode, c ErrorCode) []ErrorCode {
	known := func(other ErrorCode) bool { return other.Number == c.Number && other.Label == c.Label }
	if (c.Number == "" && c.Label == "") || slices.ContainsFunc(list, known) {
		return list
	}
	return append(list, c)
}

// exampleCode returns the code of an example. Its messages are the member x-messages, by
// language, or the message of the body and the summary of the example.
func exampleCode(name string, example *jsontree.Value) ErrorCode {
	value := example.Get("value")
	c := ErrorCode{Number: numeral(value.Get("code")), Label: value.Get("output").Str()}
	if c.Number == "" {
		return ErrorCode{}
	}
	if c.Label == "" {
		c.Label = name
	}
	for _, m := range example.Get("x-messages").Members() {
		c.Messages = append(c.Messages, Message{m.Name, m.Value.Str()})
	}
	if c.Messages != nil {
		return c
	}
	for _, text := range []string{
		value.Get("message").Str(), example.Get("summary").Str(),
		example.Get("description").Str(),
	} {
		m := Message{Text: text}
		if text != "" && text != c.Label && text != c.Number && !slices.Contains(c.Messages, m) {
			c.Messages = append(c.Messages, m)
		}
	}
	return c
}

// schemaCodes returns the codes of the members code and output, and of the variants.
func (d *Document) schemaCodes(s *schema) []ErrorCode {
	var numbers, labels []string
	for _, p := range s.properties() {
		switch member := d.schema(p.nodes...); p.name {
		case "code":
			numbers = member.values()
		case "output":
			labels = member.values()
		}
	}
	var list []ErrorCode
	for i, number := range numbers {
		c := ErrorCode{Number: number}
		if len(labels) == len(numbers) {
			c.Label = labels[i]
		}
		if message := s.get("description").Str(); message != "" && len(numbers) == 1 {
			c.Messages = []Message{{Text: message}}
		}
		list = append(list, c)
	}
	_, variants := s.variants()
	for _, variant := range variants {
		list = append(list, d.schemaCodes(&schema{
			doc: d, parts: d.schema(variant).withoutVariants(),
		})...)
	}
	return list
}

// withoutVariants returns the parts without alternatives, so that a recursive schema is
// read once.
func (s *schema) withoutVariants() []*jsontree.Value {
	return slices.DeleteFunc(slices.Clone(s.parts), func(part *jsontree.Value) bool {
		return part.Get("oneOf") != nil || part.Get("anyOf") != nil
	})
}

// values returns the values of const or enum.
func (s *schema) values() []string {
	if v := s.get("const"); v != nil {
		return []string{plain(v)}
	}
	return Strings(s.get("enum"))
}
