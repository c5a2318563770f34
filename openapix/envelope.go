package openapix

import (
	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// envelopes are the components of the envelopes of one format.
type envelopes struct {
	java             bool
	success, failure *schema.Component
}

// profileOf returns the profile of an operation.
func (g *generator) profileOf(op *xapi.Operation) xbase.Profile {
	if op.Profile != nil {
		return *op.Profile
	}
	return g.config.profile
}

// envelopesOf returns the envelopes of a profile. The first call for a format defines
// them.
func (g *generator) envelopesOf(p xbase.Profile) *envelopes {
	e := g.envelopes[p.IsJava()]
	if e == nil {
		e = &envelopes{java: p.IsJava()}
		g.envelopes[p.IsJava()] = e
		g.define(e)
	}
	return e
}

// define defines the components of e.
func (g *generator) define(e *envelopes) {
	prefix := ""
	if e.java {
		prefix = "Java"
	}
	text, integer := schema.Of("string"), schema.Of("integer")
	success := schema.Of("object")
	success.Description = "The envelope of a success."
	success.Properties = e.members(
		&schema.Schema{Types: text.Types, Const: xbase.OutputSuccess},
		&schema.Schema{Types: integer.Types, Const: xbase.CodeSuccess})
	success.Required = e.required()
	e.success = g.schemas.Define(prefix+"Success", success)

	failed := schema.Of("object")
	failed.Description = "The envelope of an error. x-error-catalogue lists the codes."
	failed.Properties = append(e.members(
		described(text, "Label of the error code."), described(integer, "Number of the error code.")),
		schema.Property{Name: "data", Schema: &schema.Schema{
			Description: "Details. For invalid input, it is a list of FieldError.",
		}})
	failed.Required = success.Required
	if !e.java {
		failed.Properties = append(failed.Properties, schema.Property{
			Name:   "error_message",
			Schema: described(text, "Detail for the developer of the client."),
		})
	}
	e.failure = g.schemas.Define(prefix+"Error", failed)
}

// members returns the members of both envelopes, except for the data.
func (e *envelopes) members(output, code *schema.Schema) []schema.Property {
	text, integer := schema.Of("string"), schema.Of("integer")
	list := []schema.Property{
		{Name: "context", Schema: described(text, "ID of the request.")},
		{Name: "output", Schema: output},
		{Name: "code", Schema: code},
		{Name: "message", Schema: described(text, "Message in the language of the client.")},
	}
	if e.java {
		nullable := &schema.Schema{Types: []string{"string", "null"}}
		return append(list,
			schema.Property{
				Name:   "errorMessage",
				Schema: described(nullable, "Detail for the developer of the client."),
			},
			schema.Property{
				Name:   "duration",
				Schema: described(integer, "Duration of the request in milliseconds."),
			})
	}
	return append(list, schema.Property{
		Name:   "overhead",
		Schema: described(integer, "Duration of the request in microseconds, in debug mode."),
	})
}

// required returns the members that are always present.
func (e *envelopes) required() []string {
	list := []string{"context", "output", "code", "message"}
	if e.java {
		return append(list, "errorMessage", "duration")
	}
	return list
}

func described(s *schema.Schema, description string) *schema.Schema {
	c := *s
	c.Description = description
	return &c
}

// label returns the number and the label of a code in a response.
func (e *envelopes) label(code *xerror.ErrorCode) (number int, output string) {
	if e.java {
		return xerror.JavaCode(code)
	}
	return code.GetCode(), code.GetOutput()
}

// name returns the name of the components of a code.
func (e *envelopes) name(label string) string {
	if e.java {
		return "java." + label
	}
	return label
}

// example returns the response with a code. It omits the data null of the Java library,
// because kin-openapi rejects null for a schema without a type.
func (e *envelopes) example(code *xerror.ErrorCode) *tree.Object {
	number, output := e.label(code)
	value := tree.New().Set("context", exampleID).Set("output", output).Set("code", number).
		Set("message", code.GetMessage())
	if e.java {
		value.Set("errorMessage", nil).Set("duration", 1)
	}
	return tree.New().Set("summary", code.GetMessage()).
		Set("description", code.Message(xerror.Chinese)).Set("value", value)
}
