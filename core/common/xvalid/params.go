package xvalid

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// parameters parses each parameter of a rule once. Parameters come from tags, so their
// number is limited.
type parameters[T any] struct {
	parse func(parameter string) (T, error)

	mu     sync.Mutex
	parsed map[string]T
}

var (
	patterns = parameters[*regexp.Regexp]{parse: regexp.Compile}
	words    = parameters[[]string]{parse: splitWords}
	integers = parameters[[]int64]{parse: listOf(func(s string) (int64, error) {
		return strconv.ParseInt(s, 10, 64)
	})}
	floats = parameters[[]float64]{parse: listOf(func(s string) (float64, error) {
		return strconv.ParseFloat(s, 64)
	})}
)

// parameterChecks parse the parameters of a rule when a type with that rule is first
// validated.
var parameterChecks = map[string]func(field, tag, parameter string){
	"regexp":      patterns.check,
	"enum_int":    integers.check,
	"enum_float":  floats.check,
	"enum_string": words.check,
}

// get returns the parsed parameter of a rule in the tag of a field. It panics if parsing
// fails.
func (p *parameters[T]) get(field, tag, parameter string) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.parsed[parameter]; ok {
		return v
	}
	v, err := p.parse(parameter)
	if err != nil {
		panic(fmt.Sprintf("field %s: %s=%s: %v", field, tag, parameter, err))
	}
	if p.parsed == nil {
		p.parsed = map[string]T{}
	}
	p.parsed[parameter] = v
	return v
}

func (p *parameters[T]) check(field, tag, parameter string) { p.get(field, tag, parameter) }

func (p *parameters[T]) of(fl validator.FieldLevel) T {
	return p.get(fl.StructFieldName(), fl.GetTag(), fl.Param())
}

// unescape replaces the escapes of comma and pipe in tags.
var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// checkParameters panics if parsing a parameter in the tag of a field fails.
func checkParameters(f reflect.StructField) {
	isSeparator := func(r rune) bool { return r == ',' || r == '|' }
	for item := range strings.FieldsFuncSeq(f.Tag.Get(tagName), isSeparator) {
		tag, parameter, _ := strings.Cut(item, "=")
		if check, ok := parameterChecks[tag]; ok {
			check(f.Name, tag, unescape.Replace(parameter))
		}
	}
}

var errEmptyList = errors.New("empty list")

// listOf returns a function that parses numbers separated by spaces, escaped commas or
// escaped pipes.
func listOf[T any](parse func(string) (T, error)) func(parameter string) ([]T, error) {
	isSeparator := func(r rune) bool { return r == ' ' || r == ',' || r == '|' }
	return func(parameter string) ([]T, error) {
		var numbers []T
		for text := range strings.FieldsFuncSeq(parameter, isSeparator) {
			n, err := parse(text)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number", text)
			}
			numbers = append(numbers, n)
		}
		if numbers == nil {
			return nil, errEmptyList
		}
		return numbers, nil
	}
}

// splitWords splits words at spaces. A word with spaces must be in single quotes.
func splitWords(parameter string) ([]string, error) {
	var list []string
	for rest := strings.TrimLeft(parameter, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		word, after, _ := strings.Cut(rest, " ")
		if quoted, ok := strings.CutPrefix(rest, "'"); ok {
			if word, after, ok = strings.Cut(quoted, "'"); !ok {
				return nil, errors.New("unclosed quote")
			}
		}
		list = append(list, word)
		rest = after
	}
	if list == nil {
		return nil, errEmptyList
	}
	return list, nil
}

func matchesPattern(fl validator.FieldLevel) bool { return patterns.of(fl).MatchString(text(fl)) }

func enumString(fl validator.FieldLevel) bool { return slices.Contains(words.of(fl), text(fl)) }

func enumInt(fl validator.FieldLevel) bool {
	list := integers.of(fl)
	switch f := fl.Field(); {
	case f.CanInt():
		return slices.Contains(list, f.Int())
	case f.CanUint():
		return slices.ContainsFunc(list,
			func(n int64) bool { return n >= 0 && uint64(n) == f.Uint() })
	default:
		panic(unsupportedKind(fl))
	}
}

// enumFloat compares a float32 with the parameter rounded to float32.
func enumFloat(fl validator.FieldLevel) bool {
	list := floats.of(fl)
	f := fl.Field()
	if !f.CanFloat() {
		panic(unsupportedKind(fl))
	}
	return slices.ContainsFunc(list, func(n float64) bool {
		if f.Kind() == reflect.Float32 {
			n = float64(float32(n))
		}
		return n == f.Float()
	})
}
