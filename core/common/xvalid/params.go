package xvalid

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// badParameter is the panic of a rule whose parameter or field is wrong; Validate returns it as a
// *RuleError.
type badParameter string

// wrong is the panic of a rule whose parameter is wrong.
func wrong(fl validator.FieldLevel, problem string) badParameter {
	return badParameter(fmt.Sprintf("field %s: %s=%s: %s", fl.StructFieldName(), fl.GetTag(), fl.Param(), problem))
}

// patterns are compiled once for each parameter. Parameters come from tags, so there are as many as the
// program has tags.
var patterns = struct {
	sync.RWMutex
	compiled map[string]*regexp.Regexp
}{compiled: map[string]*regexp.Regexp{}}

func matchesPattern(fl validator.FieldLevel) bool {
	patterns.RLock()
	pattern, ok := patterns.compiled[fl.Param()]
	patterns.RUnlock()
	if !ok {
		var err error
		if pattern, err = regexp.Compile(fl.Param()); err != nil {
			panic(wrong(fl, err.Error()))
		}
		patterns.Lock()
		patterns.compiled[fl.Param()] = pattern
		patterns.Unlock()
	}
	return pattern.MatchString(text(fl))
}

// enumString compares with words that are separated by spaces; single quotes hold a word with spaces
// together.
func enumString(fl validator.FieldLevel) bool {
	value := text(fl)
	for rest := strings.TrimLeft(fl.Param(), " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		word, after, _ := strings.Cut(rest, " ")
		if quoted, ok := strings.CutPrefix(rest, "'"); ok {
			if word, after, ok = strings.Cut(quoted, "'"); !ok {
				panic(wrong(fl, "a quote is not closed"))
			}
		}
		if word == value {
			return true
		}
		rest = after
	}
	return false
}

func enumInt(fl validator.FieldLevel) bool {
	f := fl.Field()
	if !f.CanInt() && !f.CanUint() {
		panic(badKind(fl))
	}
	return isNumberOf(fl, func(text string) (bool, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		return f.CanInt() && n == f.Int() || f.CanUint() && n >= 0 && uint64(n) == f.Uint(), err
	})
}

// enumFloat compares a float32 with the parameter as a float32 holds it.
func enumFloat(fl validator.FieldLevel) bool {
	f := fl.Field()
	if !f.CanFloat() {
		panic(badKind(fl))
	}
	return isNumberOf(fl, func(text string) (bool, error) {
		n, err := strconv.ParseFloat(text, 64)
		if f.Kind() == reflect.Float32 {
			n = float64(float32(n))
		}
		return n == f.Float(), err
	})
}

// isNumberOf reports whether the value equals a number of the parameter. They are separated by spaces, or
// by escaped commas and pipes.
func isNumberOf(fl validator.FieldLevel, equals func(text string) (bool, error)) bool {
	separator := func(r rune) bool { return r == ' ' || r == ',' || r == '|' }
	for text := range strings.FieldsFuncSeq(fl.Param(), separator) {
		ok, err := equals(text)
		if err != nil {
			panic(wrong(fl, strconv.Quote(text)+" is not a number"))
		}
		if ok {
			return true
		}
	}
	return false
}
