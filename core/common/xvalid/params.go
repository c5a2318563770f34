package xvalid

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-playground/validator/v10"
)

// badParameter is the panic of a rule whose parameter or field is wrong; Validate returns it as a
// *RuleError.
type badParameter string

// memo compiles each parameter of a rule once. Parameters come from tags, so there are as many as the
// program has tags; reading takes no lock.
type memo[T any] struct {
	mu       sync.Mutex
	compiled atomic.Pointer[map[string]T]
	compile  func(parameter string) (T, error)
}

func (m *memo[T]) get(parameter string) (T, error) {
	if known := m.compiled.Load(); known != nil {
		if v, ok := (*known)[parameter]; ok {
			return v, nil
		}
	}
	v, err := m.compile(parameter)
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[string]T{parameter: v}
	if known := m.compiled.Load(); known != nil {
		next = maps.Clone(*known)
		next[parameter] = v
	}
	m.compiled.Store(&next)
	return v, nil
}

var (
	patterns = memo[*regexp.Regexp]{compile: regexp.Compile}
	integers = memo[[]int64]{compile: func(p string) ([]int64, error) {
		return parseList(p, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	}}
	floats = memo[[]float64]{compile: func(p string) ([]float64, error) {
		return parseList(p, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	}}
	words = memo[[]string]{compile: splitWords}
)

// parameterChecks compile the parameter of a rule when a type that uses it is first seen.
var parameterChecks = map[string]func(parameter string) error{
	"regexp":      func(p string) error { _, err := patterns.get(p); return err },
	"enum_int":    func(p string) error { _, err := integers.get(p); return err },
	"enum_float":  func(p string) error { _, err := floats.get(p); return err },
	"enum_string": func(p string) error { _, err := words.get(p); return err },
}

// unescape undoes what stands for a comma and a pipe in a tag.
var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// checkParameters panics with a badParameter where the tag of f has a parameter that does not compile.
func checkParameters(f reflect.StructField) {
	for group := range strings.SplitSeq(f.Tag.Get(tagName), ",") {
		for item := range strings.SplitSeq(group, "|") {
			tag, parameter, _ := strings.Cut(item, "=")
			check, ok := parameterChecks[tag]
			if !ok {
				continue
			}
			if err := check(unescape.Replace(parameter)); err != nil {
				panic(badParameter(fmt.Sprintf("field %s: %s=%s: %v", f.Name, tag, parameter, err)))
			}
		}
	}
}

// parameter returns the compiled parameter of a rule.
func parameter[T any](fl validator.FieldLevel, m *memo[T]) T {
	v, err := m.get(fl.Param())
	if err != nil {
		panic(badParameter(fmt.Sprintf("field %s: %s=%s: %v", fl.StructFieldName(), fl.GetTag(), fl.Param(), err)))
	}
	return v
}

// parseList reads values that are separated by spaces, or by escaped commas and pipes.
func parseList[T any](p string, parse func(string) (T, error)) ([]T, error) {
	var list []T
	for _, s := range strings.FieldsFunc(p, func(r rune) bool { return r == ' ' || r == ',' || r == '|' }) {
		v, err := parse(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", s)
		}
		list = append(list, v)
	}
	if list == nil {
		return nil, fmt.Errorf("the list is empty")
	}
	return list, nil
}

// splitWords reads words that are separated by spaces; single quotes hold a word with spaces together.
func splitWords(p string) ([]string, error) {
	var list []string
	for rest := strings.TrimLeft(p, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word string
		if quoted, ok := strings.CutPrefix(rest, "'"); ok {
			if word, rest, ok = strings.Cut(quoted, "'"); !ok {
				return nil, fmt.Errorf("a quote is not closed")
			}
		} else {
			word, rest, _ = strings.Cut(rest, " ")
		}
		list = append(list, word)
	}
	if list == nil {
		return nil, fmt.Errorf("the list is empty")
	}
	return list, nil
}

func matchesPattern(fl validator.FieldLevel) bool {
	return parameter(fl, &patterns).MatchString(text(fl))
}

func enumString(fl validator.FieldLevel) bool {
	return slices.Contains(parameter(fl, &words), text(fl))
}

func enumInt(fl validator.FieldLevel) bool {
	list := parameter(fl, &integers)
	switch f := fl.Field(); {
	case f.CanInt():
		return slices.Contains(list, f.Int())
	case f.CanUint():
		return slices.ContainsFunc(list, func(n int64) bool { return n >= 0 && uint64(n) == f.Uint() })
	default:
		panic(badKind(fl))
	}
}

// enumFloat compares a float32 with the parameter as a float32 holds it.
func enumFloat(fl validator.FieldLevel) bool {
	list := parameter(fl, &floats)
	f := fl.Field()
	if !f.CanFloat() {
		panic(badKind(fl))
	}
	value, narrow := f.Float(), f.Kind() == reflect.Float32
	return slices.ContainsFunc(list, func(n float64) bool {
		if narrow {
			n = float64(float32(n))
		}
		return n == value
	})
}
