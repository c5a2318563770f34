package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// sample is the text of an example or of a default in the tag of a field.
type sample struct {
	owner string // qualified name of the struct
	field reflect.StructField
	name  string       // of the member or the parameter
	param *xbind.Param // nil for a member of a JSON object
	kind  string       // example or default
	text  string
}

// literal returns the value of a sample in the document. It records an error if the
// service would reject the value: then the documentation of the field is wrong.
func (b *Builder) literal(v sample, s *Schema) any {
	value, err := literal(v.text, s)
	if key := [...]string{v.owner, v.field.Name, v.kind}; err == nil && !b.checked[key] {
		err = v.check(value)
		b.checked[key] = err == nil
	}
	if err != nil {
		b.fail("%s: field %s: %s %q: %w", v.owner, v.field.Name, v.kind, v.text, v.reason(err))
		return nil
	}
	return value
}

var errType = errors.New("wrong type")

// reason replaces a failed conversion with a description of the type.
func (v sample) reason(err error) error {
	if !errors.Is(err, errType) {
		return err
	}
	failure := xvalid.TypeFailure(context.Background(), v.name, v.field.Type,
		v.field.Tag.Get("time_format"))
	return errors.New(failure.Message)
}

// literal converts text to the type of a schema. The elements of a list are separated by
// commas, unless the text is JSON.
func literal(text string, s *Schema) (any, error) {
	typ := ""
	if len(s.Types) > 0 {
		typ = s.Types[0]
	}
	switch {
	case typ == "string":
		return text, nil
	case (typ == "integer" || typ == "number") && json.Valid([]byte(text)):
		return json.Number(text), nil // check rejects other values
	case typ == "array" && !strings.HasPrefix(text, "["):
		list := []any{}
		for element := range strings.SplitSeq(text, ",") {
			value, err := literal(strings.TrimSpace(element), s.Items)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, errType
	}
	return value, nil
}

// check decodes the value into a struct that contains only the field, and validates it.
// The first of two tags with the same key is used.
func (v sample) check(value any) error {
	tag := fmt.Sprintf("binding:%q %s", ownRules(v.field.Tag.Get("binding")), v.field.Tag)
	single := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: v.field.Name, Type: v.field.Type, Tag: reflect.StructTag(tag)},
	}))
	if err := v.decode(single.Interface(), value); err != nil {
		return errType
	}
	ctx := context.Background()
	err := xvalid.Validate(ctx, single.Interface())
	if list := xvalid.Failures(ctx, err); list != nil {
		return errors.New(list[0].Message)
	}
	return err
}

func (v sample) decode(dst, value any) error {
	if v.param == nil {
		data, err := json.Marshal(map[string]any{v.name: value})
		if err != nil {
			return err
		}
		return json.NewDecoder(bytes.NewReader(data)).Decode(dst)
	}
	texts := []string{v.text}
	if list, ok := value.([]any); ok {
		texts = nil
		for _, element := range list {
			texts = append(texts, fmt.Sprint(element))
		}
	}
	tag, name := paramTag(v.field.Tag)
	return binding.MapFormWithTag(dst, map[string][]string{name: texts}, tag)
}

// paramTag returns the tag of a parameter and the name in it.
func paramTag(t reflect.StructTag) (tag, name string) {
	for _, tag := range [...]string{"uri", "form", "header"} {
		if name, _, _ := strings.Cut(t.Get(tag), ","); name != "" && name != "-" {
			return tag, name
		}
	}
	return "", ""
}

// ownRules removes the rules that compare a field with other fields.
func ownRules(tag string) string {
	var rules []string
	for rule := range strings.SplitSeq(tag, ",") {
		name, _, _ := strings.Cut(rule, "=")
		if !strings.HasSuffix(name, "field") && !strings.HasPrefix(name, "required_") &&
			!strings.HasPrefix(name, "excluded_") && name != "skip_unless" {
			rules = append(rules, rule)
		}
	}
	return strings.Join(rules, ",")
}
