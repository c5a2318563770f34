package notifyx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// plainVariables returns the values of one message as JSON has them, without nils and
// with numbers that templates can compare. The error names one of them, and shows none.
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

// toPlain takes a value through JSON. The error of an encoder may show the value, so it
// is not passed on.
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

// marshal survives a MarshalJSON that panics.
func marshal(value any) (text []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("MarshalJSON panicked")
		}
	}()
	return json.Marshal(value)
}

// normalize takes the nils out of maps, and makes numbers of the digits. A list cannot do
// without an element.
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

// number keeps the digits of integers, which a float64 does not.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return u
	}
	f, err := n.Float64()
	if err != nil {
		return string(n) // beyond float64
	}
	return decimal(f)
}

// decimal is a number that prints as people write it: 1234567.5, and not 1.2345675e+06.
type decimal float64

// String implements fmt.Stringer.
func (d decimal) String() string {
	text, _ := json.Marshal(float64(d)) // which comes from JSON
	return string(text)
}
