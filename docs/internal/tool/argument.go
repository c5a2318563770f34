package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxLength is the maximum length of a text argument in characters. It also limits error
// strings, which quote arguments.
const maxLength = 1000

// A parameter is an argument of a tool: a number if max is set, or else a text.
type parameter struct {
	name        string
	description string
	required    bool
	hint        string // advice if the argument is missing
	max         int    // maximum of a number; the minimum is 1
	standard    int    // default of a number
}

type parameters []parameter

// arguments are the arguments of a call. An absent argument is "" or its default.
type arguments struct {
	strings map[string]string
	numbers map[string]int
}

// schema returns the published schema. It forbids null and unknown members; parse accepts
// null.
func (ps parameters) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range ps {
		member := &jsonschema.Schema{Type: "string", Description: p.description}
		if p.max > 0 {
			member.Type = "integer"
			member.Minimum, member.Maximum = new(1.0), new(float64(p.max))
			member.Default = json.RawMessage(fmt.Sprint(p.standard))
		}
		if p.required {
			s.Required = append(s.Required, p.name)
		}
		if s.Properties == nil {
			s.Properties = map[string]*jsonschema.Schema{}
		}
		s.Properties[p.name] = member
		s.PropertyOrder = append(s.PropertyOrder, p.name)
	}
	return s
}

// parse parses the arguments of a call and returns all errors at once.
func (ps parameters) parse(tool string, input json.RawMessage) (arguments, error) {
	args := arguments{strings: map[string]string{}, numbers: map[string]int{}}
	var members map[string]json.RawMessage
	if len(input) > 0 {
		if err := json.Unmarshal(input, &members); err != nil {
			return args, fmt.Errorf("the arguments of %s must be an object; %s",
				tool, ps.usage(tool))
		}
	}
	var problems []error
	for _, p := range ps {
		problems = append(problems, args.set(p, members[p.name]))
		delete(members, p.name)
	}
	return args, errors.Join(append(problems,
		ps.unknown(tool, slices.Sorted(maps.Keys(members))))...)
}

// unknown returns an error that lists the first unknown arguments.
func (ps parameters) unknown(tool string, names []string) error {
	const most = 5
	if len(names) == 0 {
		return nil
	}
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, strconv.Quote(cut(name)))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("%s has no argument %s; %s", tool, text, ps.usage(tool))
}

// set parses and stores an argument. The value is nil if the argument is absent.
func (a arguments) set(p parameter, value json.RawMessage) error {
	absent := len(value) == 0 || bytes.Equal(value, []byte("null"))
	switch {
	case p.max > 0 && absent:
		a.numbers[p.name] = p.standard
	case p.max > 0:
		return a.setNumber(p, value)
	case !absent:
		if err := a.setText(p, value); err != nil {
			return err
		}
	}
	if p.required && a.strings[p.name] == "" {
		return fmt.Errorf("argument %q is required: %s", p.name, p.hint)
	}
	return nil
}

func (a arguments) setNumber(p parameter, value json.RawMessage) error {
	var n float64 // 2.0 is an integer (JSON Schema Validation, section 6.1.1)
	if err := json.Unmarshal(value, &n); err != nil || n != math.Trunc(n) || n < 1 ||
		n > float64(p.max) {
		return fmt.Errorf("argument %q must be an integer from 1 to %d", p.name, p.max)
	}
	a.numbers[p.name] = int(n)
	return nil
}

func (a arguments) setText(p parameter, value json.RawMessage) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("argument %q must be a string", p.name)
	}
	if n := utf8.RuneCountInString(text); n > maxLength {
		return fmt.Errorf("argument %q has %d characters; the maximum is %d", p.name, n, maxLength)
	}
	a.strings[p.name] = strings.TrimSpace(text)
	return nil
}

// usage returns a list of the arguments of a tool.
func (ps parameters) usage(tool string) string {
	if len(ps) == 0 {
		return tool + " accepts no arguments"
	}
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.name
		if p.required {
			names[i] += " (required)"
		}
	}
	return tool + " accepts " + strings.Join(names, ", ")
}

// cut truncates a text that is quoted in a response.
func cut(text string) string {
	const length = 200
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length]) + "…"
	}
	return text
}
