package openapix

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

const requestIDHeader = "X-Request-UUID"

// headers returns the components of the headers.
func headers() *tree.Object {
	return tree.New().Set(requestIDHeader, tree.New().
		Set("description", "ID of the request, as in the member context of the body.").
		Set("schema", schema.Of("string").Tree()))
}

// response returns a response with the header of all responses.
func response(description string) (o, headers *tree.Object) {
	headers = tree.New().Set(requestIDHeader,
		tree.New().Set("$ref", "#/components/headers/"+requestIDHeader))
	return tree.New().Set("description", description).Set("headers", headers), headers
}

// operationResponses returns the success and the errors of an operation, by status.
func (g *generator) operationResponses(op *xapi.Operation) *tree.Object {
	list := map[string]*tree.Object{}
	status := strconv.Itoa(op.Status)
	switch op.Response {
	case xapi.ResponseEmpty:
		o, _ := response("Success without a body.")
		list[status] = o
	case xapi.ResponseStream:
		list[status] = g.stream(op)
	case xapi.ResponseDownload:
		addDownload(list)
	case xapi.ResponseJSON:
		o, _ := response("The value, without an envelope.")
		value := g.schemas.Type(op.Data, schema.Response)
		list[status] = o.Set("content", tree.New().Set(mimeJSON, media(value)))
	default:
		list[status] = g.success(op)
	}
	g.addErrors(list, op)
	responses := tree.New()
	for _, status := range slices.Sorted(maps.Keys(list)) {
		responses.Set(status, list[status])
	}
	return responses
}

// success returns the response with an envelope.
func (g *generator) success(op *xapi.Operation) *tree.Object {
	o, headers := response(op.Message)
	for _, h := range op.Headers {
		s := g.schemas.Type(h.Field.Type, schema.Response)
		headers.Set(h.Name, tree.New().Add("description", h.Field.Tag.Get("doc")).
			Set("schema", lazy{s}))
	}
	envelope := &schema.Schema{Ref: g.envelopesOf(g.profileOf(op)).success}
	if data := op.Data; data != nil {
		s := schema.Of("object")
		s.Properties = []schema.Property{{Name: "data", Schema: g.schemas.Type(data, schema.Response)}}
		if alwaysPresent(data) {
			s.Required = []string{"data"}
		}
		envelope = &schema.Schema{AllOf: []*schema.Schema{envelope, s}}
	}
	return o.Set("content", tree.New().Set(mimeJSON, media(envelope)))
}

// alwaysPresent reports whether the envelope always has data. It has none for a nil list.
// A handler without an error does not return a nil pointer to a struct.
func alwaysPresent(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		return false
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Struct
	default:
		return true
	}
}

// stream returns the response with a stream. The schema describes one item, as OpenAPI
// 3.1 has no schema for a sequence.
func (g *generator) stream(op *xapi.Operation) *tree.Object {
	o, _ := response("A stream of items. The schema describes one line of application/jsonl, " +
		"or the data of one event of text/event-stream. If the stream fails, " +
		"the last item is the envelope of the error, in an event of the type error.")
	item := g.schemas.Type(op.Data, schema.Response)
	content := tree.New()
	for _, mime := range []string{"application/jsonl", "text/event-stream"} {
		content.Set(mime, media(item).Set("x-item-schema", lazy{item}))
	}
	return o.Set("content", content)
}

// addDownload adds the responses of a file, including those of RFC 9110, sections 13 and
// 14.
func addDownload(list map[string]*tree.Object) {
	content := tree.New().Set(mimeBinary, media(binary()))
	text := schema.Of("string").Tree()
	header := func(headers *tree.Object, names ...xhttp.Header) {
		for _, name := range names {
			headers.Set(string(name), tree.New().Set("schema", text))
		}
	}
	whole, h := response("The file. The content type is that of the file.")
	header(h, xhttp.ContentDisposition, "Accept-Ranges", "ETag", xhttp.LastModified)
	list["200"] = whole.Set("content", content)
	partial, h := response("The requested range of the file.")
	header(h, "Content-Range", "ETag", xhttp.LastModified)
	list["206"] = partial.Set("content", content)
	unchanged, h := response("The file has not changed.")
	header(h, "ETag", xhttp.LastModified)
	list["304"] = unchanged
	outside, h := response("The requested range is outside of the file.")
	header(h, "Content-Range")
	list["416"] = outside
}
