package page

import (
	"html/template"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
	"github.com/plinthgo/plinth/openapix/internal/page/spec"
)

// view is the data of the template of a page.
type view struct {
	Title, Version, Document string
	Base                     string // path of the index
	Description              template.HTML
	// Prefix is the path from the page to the directory of the files, and Home the one
	// to the index.
	Prefix, Home string
	Assets       assets
	Servers      []spec.Server
	Schemes      []scheme
	Credentials  []credential
	Groups       []*group
	// Single is the operation of the page, or nil for the index.
	Single *operation
}

type group struct {
	Anchor, Name string
	Description  template.HTML
	Operations   []*operation
}

// operation is an operation with its place in the page.
type operation struct {
	*spec.Operation

	Title, Anchor, URL    string
	Security, SchemeNames string
	// Codes are the numbers and labels of the errors, for the search.
	Codes       string
	Description template.HTML
	// Body is nil if the index only links to the page of the operation.
	Body *body
}

// body is the description of an operation.
type body struct {
	Parameters []inputs
	About      string
	Required   bool
	Contents   []content
	Responses  []response
	Errors     []errorRow
}

// inputs are the parameters of a place.
type inputs struct {
	Title  string
	Inputs []input
}

// input is a parameter or a field of a form. The script creates a form of its attributes.
type input struct {
	In, Name, Value  string
	Required, Joined bool
	Shape            spec.Shape
}

type content struct {
	Type, Example string
	Shape         spec.Shape
	// Envelope are the names of the members next to data, or empty.
	Envelope []string
	// Inputs are the fields of a form, or empty.
	Inputs  []input
	Request bool
}

type response struct {
	Status, Description string
	Headers             []spec.Field
	Contents            []content
}

type errorRow struct {
	Status, Number, Label string
	Messages              []spec.Message
}

// newBody reads the description of an operation.
func newBody(d *spec.Document, o *spec.Operation) *body {
	b := &body{}
	for _, p := range o.Parameters() {
		title := strings.ToUpper(p.In[:1]) + p.In[1:] + " parameters"
		if len(b.Parameters) == 0 || b.Parameters[len(b.Parameters)-1].Title != title {
			b.Parameters = append(b.Parameters, inputs{Title: title})
		}
		last := &b.Parameters[len(b.Parameters)-1]
		p.Shape.Deprecated = p.Shape.Deprecated || p.Deprecated
		last.Inputs = append(last.Inputs, input{
			In: p.In, Name: p.Name, Value: lines(p.Example), Required: p.Required, Joined: p.Joined,
			Shape: p.Shape,
		})
	}
	var contents []spec.Content
	contents, b.About, b.Required = o.Body()
	for _, c := range contents {
		b.Contents = append(b.Contents, newContent(d, c, true))
	}
	for _, r := range o.Responses() {
		if r.IsError() {
			b.Errors = append(b.Errors, errorRows(r)...)
			continue
		}
		shown := response{Status: r.Status, Description: r.Description, Headers: r.Headers}
		for _, c := range r.Contents {
			shown.Contents = append(shown.Contents, newContent(d, c, false))
		}
		b.Responses = append(b.Responses, shown)
	}
	return b
}

// lines returns the items of an array in lines, as the form expects them, and other
// values unchanged.
func lines(value string) string {
	if !strings.HasPrefix(value, "[") {
		return value
	}
	v, err := jsontree.Parse([]byte(value))
	if err != nil {
		return value
	}
	return strings.Join(spec.Strings(v), "\n")
}

func isForm(media string) bool {
	media, _, _ = strings.Cut(media, ";")
	return media == "multipart/form-data" || media == "application/x-www-form-urlencoded"
}

func newContent(d *spec.Document, c spec.Content, request bool) content {
	shown := content{Type: c.Type, Example: c.Example, Shape: c.Shape, Request: request}
	if request && isForm(c.Type) {
		for _, f := range c.Shape.Fields {
			value := f.Example
			if f.Required && value == "" {
				value = f.Default
			}
			shown.Inputs = append(shown.Inputs, input{
				In: "form", Name: f.Name, Value: lines(value), Required: f.Required, Shape: f.Shape,
			})
		}
		return shown
	}
	if data, others, ok := d.Envelope(c.Schema); ok {
		shown.Shape, shown.Envelope = data, others
	}
	return shown
}

// errorRows returns the codes of a response, or one row with its description.
func errorRows(r spec.Response) []errorRow {
	rows := make([]errorRow, 0, len(r.Errors))
	for _, c := range r.Errors {
		for i := range c.Messages {
			if m := &c.Messages[i]; m.Language == "" && isChinese(m.Text) {
				m.Language = "zh"
			}
		}
		rows = append(rows, errorRow{r.Status, c.Number, c.Label, c.Messages})
	}
	if len(rows) == 0 {
		rows = append(rows, errorRow{
			Status: r.Status, Messages: []spec.Message{{Text: r.Description}},
		})
	}
	return rows
}

// codesOf returns the numbers and labels of the errors of an operation.
func codesOf(o *spec.Operation) string {
	var codes []string
	for _, c := range o.Codes() {
		codes = append(codes, strings.TrimSpace(c.Number+" "+c.Label))
	}
	return strings.Join(slices.Compact(codes), " ")
}
