package notifyx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// plainVariables converts values to JSON values without nils and with comparable numbers.
// The error names a variable but contains no value.
func plainVariables(values map[string]any) (map[string]any, error) {
	all := make(map[string]any, len(values))
	size := 0
	for name, value := range values {
		plain, n, err := toPlain(value)
		if err != nil {
			return nil, fmt.Errorf("variable %q %w", name, err)
		}
		if size += n + len(name); size > maxVariables {
			return nil, fmt.Errorf("the variables are longer than %d bytes of JSON", maxVariables)
		}
		if plain != nil {
			all[name] = plain
		}
	}
	return all, nil
}

// toPlain encodes a value as JSON and decodes it. It does not return the error of the
// encoder, which may contain the value.
func toPlain(value any) (plain any, size int, err error) {
	text, err := marshal(value)
	if err != nil {
		return nil, 0, fmt.Errorf("of type %T cannot be written as JSON", value)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&plain); err != nil {
		return nil, 0, fmt.Errorf("of type %T cannot be read from its JSON", value)
	}
	plain, err = normalize(plain)
	return plain, len(text), err
}

// marshal recovers from a panic in MarshalJSON.
func marshal(value any) (text []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("MarshalJSON panicked")
		}
	}()
	return json.Marshal(value)
}

// normalize removes nils from maps and converts json.Number values. A nil in a list is an
// error.
func normalize(value any) (_ any, err error) {
	switch v := value.(type) {
	case json.Number:
		return number(v), nil
	case map[string]any:
		for k, member := range v {
			if v[k], err = normalize(member); err != nil {
				return nil, err
			}
			if v[k] == nil {
				delete(v, k)
			}
		}
	case []any:
		for i, member := range v {
			if member == nil {
				return nil, fmt.Errorf("has a list with a nil, at %d", i)
			}
			if v[i], err = normalize(member); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// number preserves the digits of integers, unlike float64.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return u
	}
	f, err := n.Float64()
	if err != nil {
		return string(n) // out of range of float64
	}
	return decimal(f)
}

// decimal is a number that prints without an exponent: 1234567.5, not 1.2345675e+06.
type decimal float64

// String implements fmt.Stringer.
func (d decimal) String() string {
	text, _ := json.Marshal(float64(d)) // valid, because d was decoded from JSON
	return string(text)
}
