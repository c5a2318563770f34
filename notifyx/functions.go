package notifyx

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	texttemplate "text/template"
)

// functions are what Go templates have beside those of the library, or instead of them: none prints a nil.
var functions = map[string]any{
	printed: toPrint, "index": index,
	"print": printer(fmt.Sprint), "println": printer(fmt.Sprintln),
	"html": printer(texttemplate.HTMLEscaper), "js": printer(texttemplate.JSEscaper), "urlquery": printer(texttemplate.URLQueryEscaper),
	"printf": func(format string, values ...any) (string, error) {
		return printer(func(values ...any) string { return fmt.Sprintf(format, values...) })(values...)
	},
}

// printer refuses what would be "<nil>" or "<no value>", such as the dot of a template that is run without one.
func printer(text func(values ...any) string) func(values ...any) (string, error) {
	return func(values ...any) (string, error) {
		for _, v := range values {
			if v == nil {
				return "", &MissingVariablesError{Variables: []string{"."}}
			}
		}
		return text(values...), nil
	}
}

// index is that of text/template for what variables are made of: maps and lists. A key that is not there is a missing variable.
func index(item any, keys ...any) (any, error) {
	for _, key := range keys {
		switch c := item.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, errors.New("index: a name is a string")
			}
			if item = c[name]; item == nil {
				return nil, &MissingVariablesError{Variables: []string{name}}
			}
		case []any:
			i, ok := toInt(key)
			if !ok || i < 0 || i >= len(c) {
				return nil, errors.New("index: there is no such element")
			}
			item = c[i]
		default:
			return nil, errors.New("index: neither a list nor a map")
		}
	}
	return item, nil
}

// toInt returns the value of an integer of the types that templates and variables have.
func toInt(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), int64(int(n)) == n
	default:
		return 0, false
	}
}

// toPrint is the last function of each action that prints. It refuses what would be "<no value>", and writes a float64
// without an exponent.
func toPrint(expression string, value any) (any, error) {
	switch v := value.(type) {
	case nil:
		name := strings.TrimPrefix(expression, ".")
		if name == "" {
			name = "." // of a template that is run without one
		}
		return nil, &MissingVariablesError{Variables: []string{name}}
	case float64:
		return json.Number(decimal(v)), nil
	default:
		return value, nil
	}
}
