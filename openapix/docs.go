package openapix

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/openapix/internal/schema"
)

// doc is the documentation of an operation, a parameter or a schema. Its JSON is the part
// of a document that it has in common with these.
type doc struct {
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Deprecated  bool   `json:"deprecated"`
}

// docs is the documentation in an earlier document. The zero value is empty.
type docs struct {
	operations map[string]doc
	params     map[[3]string]doc // by operation, place and name
	schemas    map[string]doc    // by component, or component and property
}

// parseDocs reads the documentation in a document.
func parseDocs(document []byte) (t docs, err error) {
	type object struct {
		doc
		Properties map[string]doc `json:"properties"`
	}
	var d struct {
		OpenAPI    string                                `json:"openapi"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]object `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return t, err
	}
	if !strings.HasPrefix(d.OpenAPI, "3.") {
		return t, fmt.Errorf("the version %q is not that of an OpenAPI 3 document", d.OpenAPI)
	}
	t = docs{map[string]doc{}, map[[3]string]doc{}, map[string]doc{}}
	for path, item := range d.Paths {
		for method, raw := range item {
			if err := t.addOperation(method, raw); err != nil {
				return t, fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
	}
	for name, s := range d.Components.Schemas {
		t.schemas[name] = s.doc
		for p, property := range s.Properties {
			t.schemas[name+"."+p] = property
		}
	}
	return t, nil
}

// addOperation adds the documentation of an operation. It ignores other members of a path
// item.
func (t docs) addOperation(method string, raw json.RawMessage) error {
	if rank(strings.ToUpper(method)) < 0 {
		return nil
	}
	var o struct {
		doc
		ID         string `json:"operationId"`
		Parameters []struct {
			doc
			In   string `json:"in"`
			Name string `json:"name"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	t.operations[o.ID] = o.doc
	for _, p := range o.Parameters {
		t.params[[3]string{o.ID, p.In, p.Name}] = p.doc
	}
	return nil
}

// complete adds what s does not have.
func (t doc) complete(s *schema.Schema) {
	if s.Description == "" {
		s.Description = t.Description
	}
	s.Deprecated = s.Deprecated || t.Deprecated
}

func (t docs) completeParam(id, in, name string, s *schema.Schema) {
	t.params[[3]string{id, in, name}].complete(s)
}

func (t docs) completeSchema(c *schema.Component) {
	t.schemas[c.Name].complete(c.Schema)
	for _, p := range c.Schema.Properties {
		t.schemas[c.Name+"."+p.Name].complete(p.Schema)
	}
}

// operationDoc returns the documentation of an operation: that of its options, then that
// of its comment, then that of the earlier document. The last resort for the summary is
// the operation ID.
func (g *generator) operationDoc(op *xapi.Operation) doc {
	t := doc{Summary: op.Summary, Description: op.Description}
	earlier := g.config.docs.operations[op.ID]
	if comment := g.config.comments[op.Function]; comment != "" {
		name := op.Function[strings.LastIndexByte(op.Function, '.')+1:]
		earlier = operationComment(name, comment)
	}
	t.Deprecated = earlier.Deprecated
	if t.Summary == "" {
		t.Summary = earlier.Summary
	}
	if t.Summary == "" {
		t.Summary = sentence(op.ID)
	}
	if t.Description == "" {
		t.Description = earlier.Description
	}
	return t
}

// operationComment returns the documentation in the comment of a function. The sentence
// "createUser registers a user." is the summary "Registers a user".
func operationComment(name, comment string) doc {
	comment = strings.TrimSpace(comment)
	if rest, ok := strings.CutPrefix(comment, name+" "); ok {
		comment = mapFirst(rest, unicode.ToUpper)
	}
	first, rest := firstSentence(comment)
	return doc{
		Summary:     strings.TrimSuffix(strings.Join(strings.Fields(first), " "), "."),
		Description: rest, Deprecated: isDeprecated(comment),
	}
}

// firstSentence splits a comment after its first sentence. The sentence ends with a
// period and white space, or with the paragraph.
func firstSentence(comment string) (first, rest string) {
	end := len(comment)
	if i := strings.Index(comment, "\n\n"); i >= 0 {
		end = i
	}
	for i := range end {
		last := i+1 == end || comment[i+1] == ' ' || comment[i+1] == '\n'
		if comment[i] == '.' && last && !isAbbreviation(comment[:i]) {
			end = i + 1
			break
		}
	}
	return comment[:end], strings.TrimSpace(comment[end:])
}

// isAbbreviation reports whether a period after s does not end a sentence, as in "e.g.".
func isAbbreviation(s string) bool {
	word := s[strings.LastIndexAny(s, " \n(")+1:]
	return utf8.RuneCountInString(word) == 1 || strings.Contains(word, ".") && len(word) == 3
}

// docOf returns the documentation in the doc comment of a type or of a field.
func docOf(comment string) schema.Doc {
	return schema.Doc{Text: strings.TrimSpace(comment), Deprecated: isDeprecated(comment)}
}

// isDeprecated reports whether a paragraph starts with "Deprecated:".
func isDeprecated(comment string) bool {
	const mark = "Deprecated:"
	return strings.HasPrefix(comment, mark) || strings.Contains(comment, "\n\n"+mark)
}

// sentence converts an operation ID to words: "Create user" for createUser.
func sentence(id string) string {
	var b strings.Builder
	before := ' '
	for _, r := range mapFirst(id, unicode.ToUpper) {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
			before, r = r, unicode.ToLower(r)
		} else {
			before = r
		}
		b.WriteRune(r)
	}
	return b.String()
}

func mapFirst(s string, convert func(rune) rune) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(convert(r)) + s[size:]
}
