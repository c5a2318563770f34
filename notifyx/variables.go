package notifyx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// variables are the values of one message, as JSON has them and without nils. They belong to one goroutine.
type variables struct {
	root   map[string]any // numbers are json.Number
	native map[string]any // numbers are int64, uint64 or float64; made at first use
}

// newVariables takes over values. The error names one of them, and shows none.
func newVariables(values map[string]any) (*variables, error) {
	v := &variables{root: make(map[string]any, len(values))}
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
			v.root[name] = plain
		}
	}
	return v, nil
}

// toPlain takes a value through JSON. The error of an encoder may show the value, so it is not passed on.
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
	plain, err = withoutNil(plain)
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

// withoutNil takes the nils out of maps. A list cannot do without an element.
func withoutNil(value any) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		for k, member := range v {
			member, err := withoutNil(member)
			if err != nil {
				return nil, err
			}
			if member == nil {
				delete(v, k)
				continue
			}
			v[k] = member
		}
	case []any:
		for i, member := range v {
			if member == nil {
				return nil, fmt.Errorf("has a list with a nil, at %d", i)
			}
			if _, err := withoutNil(member); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// get returns the value at a path of names with dots between them: a string, a bool or a json.Number.
func (v *variables) get(path string) (value any, found bool, err error) {
	value = v.root
	for name := range strings.SplitSeq(path, ".") {
		members, ok := value.(map[string]any)
		if !ok {
			return nil, false, nil
		}
		if value, ok = members[name]; !ok {
			return nil, false, nil
		}
	}
	switch value.(type) {
	case map[string]any, []any:
		return nil, true, fmt.Errorf("variable %q is an object or a list, and no text", path)
	}
	return value, true, nil
}

// values returns what Go templates work with: numbers that can be compared.
func (v *variables) values() map[string]any {
	if v.native == nil {
		v.native, _ = toNative(v.root).(map[string]any)
	}
	return v.native
}

func toNative(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			out[k] = toNative(member)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = toNative(out[i])
		}
		return out
	case json.Number:
		return number(v)
	default:
		return value
	}
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
	return f
}
