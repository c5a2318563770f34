package openapix

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// addErrors adds a response for each status of the errors of an operation. The responses
// are components.
func (g *generator) addErrors(list map[string]*tree.Object, op *xapi.Operation) {
	p := g.profileOf(op)
	codes := slices.Concat(op.Errors, implied(op))
	slices.SortFunc(codes, func(a, b *xerror.ErrorCode) int {
		return cmp.Or(cmp.Compare(statusOf(a, p), statusOf(b, p)),
			cmp.Compare(a.GetCode(), b.GetCode()))
	})
	codes = slices.Compact(codes)
	for len(codes) > 0 {
		status := statusOf(codes[0], p)
		n := slices.IndexFunc(codes, func(c *xerror.ErrorCode) bool { return statusOf(c, p) != status })
		if n < 0 {
			n = len(codes)
		}
		name := g.errorResponse(g.envelopesOf(p), codes[:n])
		list[strconv.Itoa(status)] = tree.New().Set("$ref", "#/components/responses/"+name)
		codes = codes[n:]
	}
}

func statusOf(code *xerror.ErrorCode, p xbase.Profile) int { return xerror.New(code, "").Status(p) }

// implied returns the errors that any request of the operation can cause.
func implied(op *xapi.Operation) []*xerror.ErrorCode {
	codes := []*xerror.ErrorCode{xerror.ServerInternalError, xerror.ServiceOverload}
	if op.Response != xapi.ResponseStream { // a stream has no timeout
		codes = append(codes, xerror.GatewayTimeout)
	}
	for i := range op.Layout.Params {
		codes = append(codes, paramErrors(&op.Layout.Params[i])...)
	}
	for i := range op.Layout.FormFields {
		codes = append(codes, paramErrors(&op.Layout.FormFields[i])...)
	}
	switch op.Layout.Body {
	case xbind.BodyJSON, xbind.BodyForm, xbind.BodyFiles, xbind.BodyUpload:
		codes = append(codes, xerror.BodyError, xerror.BodyEmpty, xerror.PayloadTooLarge,
			xerror.UnsupportedMedia)
	case xbind.BodyRaw:
		codes = append(codes, xerror.BodyEmpty, xerror.PayloadTooLarge)
	case xbind.BodyNone:
	}
	if op.Layout.Body == xbind.BodyJSON {
		codes = append(codes, xerror.BodyType)
	}
	return codes
}

// paramErrors returns the errors of a parameter or of a field of a form.
func paramErrors(p *xbind.Param) []*xerror.ErrorCode {
	var codes []*xerror.ErrorCode
	text := !p.File && element(p).Kind() == reflect.String
	if p.From == xvalid.Query || p.Field.Tag.Get("binding") != "" || !text {
		codes = append(codes, p.From.Code()) // a query can be malformed
	}
	if !text && !p.File && !reflect.PointerTo(element(p)).Implements(unmarshalerType) {
		codes = append(codes, p.From.TypeCode())
	}
	return codes
}

// unmarshalerType is the type of parameters that convert text themselves. Invalid text
// fails like a rule.
var unmarshalerType = reflect.TypeFor[binding.BindUnmarshaler]()

// element returns the type of a single value of a parameter.
func element(p *xbind.Param) reflect.Type {
	t := p.Field.Type
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// errorResponse adds the response for codes with the same status, and returns its name.
func (g *generator) errorResponse(e *envelopes, codes []*xerror.ErrorCode) string {
	labels := make([]string, len(codes))
	for i, code := range codes {
		labels[i] = code.GetOutput()
	}
	name := e.name(strings.Join(labels, "."))
	if g.responses[name] != nil {
		return name
	}
	outputs, numbers := schema.Of("string"), schema.Of("integer")
	examples := tree.New()
	for _, code := range codes {
		g.codes[code] = true
		number, output := e.label(code)
		if !slices.Contains(outputs.Enum, any(output)) { // several codes may have one Java label
			outputs.Enum, numbers.Enum = append(outputs.Enum, output), append(numbers.Enum, number)
		}
		example := e.name(code.GetOutput())
		g.examples[example] = e.example(code)
		examples.Set(code.GetOutput(), tree.New().Set("$ref", "#/components/examples/"+example))
	}
	values := schema.Of("object")
	values.Properties = []schema.Property{
		{Name: "output", Schema: outputs}, {Name: "code", Schema: numbers},
	}
	if !slices.ContainsFunc(codes, isOther) {
		s := schema.Of("array")
		if e.java {
			s.Types = append(s.Types, "null")
		}
		s.Items = g.schemas.Type(failureType, schema.Response)
		values.Properties = append(values.Properties, schema.Property{Name: "data", Schema: s})
	}
	envelope := &schema.Schema{AllOf: []*schema.Schema{{Ref: e.failure}, values}}
	o, headers := response(description(codes))
	if codes[0].Status() == http.StatusServiceUnavailable {
		headers.Set("Retry-After", tree.New().Set("schema", schema.Of("integer").Tree()))
	}
	g.responses[name] = o.Set("content", tree.New().
		Set(mimeJSON, media(envelope).Set("examples", examples)).
		Set(xerror.ContentTypeProblem, media(g.problem)))
	return name
}

// inputCodes are the codes of invalid input. Their data is a list of the invalid fields,
// or absent.
var inputCodes = []*xerror.ErrorCode{
	xerror.ParameterError, xerror.ParameterType, xerror.BodyError, xerror.BodyEmpty,
	xerror.BodyType, xerror.HeaderError, xerror.HeaderType,
}

func isOther(code *xerror.ErrorCode) bool { return !slices.Contains(inputCodes, code) }

// description returns a list of the codes with their messages.
func description(codes []*xerror.ErrorCode) string {
	lines := make([]string, len(codes))
	for i, code := range codes {
		lines[i] = code.GetOutput() + ": " + code.GetMessage() + "."
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return "- " + strings.Join(lines, "\n- ")
}

// usedCodes returns the codes of the document, sorted by number.
func (g *generator) usedCodes() []*xerror.ErrorCode {
	return slices.SortedFunc(maps.Keys(g.codes), func(a, b *xerror.ErrorCode) int {
		return cmp.Compare(a.GetCode(), b.GetCode())
	})
}

const exampleID = "0198c0de-0000-7000-8000-000000000000"

// catalogue returns the codes of the document with their messages.
func (g *generator) catalogue() []any {
	list := []any{}
	for _, code := range g.usedCodes() {
		messages := tree.New().Set(xerror.English, code.GetMessage()).
			Set(xerror.Chinese, code.Message(xerror.Chinese))
		entry := tree.New().Set("code", code.GetCode()).Set("output", code.GetOutput()).
			Set("status", code.Status()).Set("messages", messages)
		if e := g.envelopes[true]; e != nil {
			number, output := e.label(code)
			entry.Set("java", tree.New().Set("code", number).Set("output", output))
		}
		list = append(list, entry)
	}
	return list
}
