package xdb

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// shortLiteral is the length up to which a literal says so little, and is so often a part of other words, that it may
// stand in an error.
const shortLiteral = 3

// valueError is an error of a statement without the values of the statement.
type valueError struct {
	text  string
	cause error
}

// Error implements error.
func (e *valueError) Error() string { return e.text }

// Unwrap returns the library's error.
func (e *valueError) Unwrap() error { return e.cause }

// withoutValues returns the error of a statement without the literals of that. A driver has done so for an error of
// which it knows the kind; of another, the library's text is all that there is to say what is wrong.
func withoutValues(err error, sql, dialect string) error {
	if err == nil || driver.KindOf(err) != driver.Unknown {
		return err
	}
	names, literals := statementParts(sql, dialect)
	text := err.Error()
	for _, literal := range literals {
		text = strings.ReplaceAll(text, literal, "?")
	}
	text = quotations().ReplaceAllStringFunc(text, func(quoted string) string {
		inner := quoted[1 : len(quoted)-1]
		last := inner[strings.LastIndexByte(inner, '.')+1:] // of schema.table
		if names[strings.ToLower(inner)] || names[strings.ToLower(last)] {
			return quoted
		}
		return "?"
	})
	if text == err.Error() {
		return err
	}
	return &valueError{text: text, cause: err}
}

// quotations are what an error may quote a value, or a name, in.
var quotations = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`") })

// statementParts returns the names in a statement, in lower case, and the literals worth hiding, the longest first.
func statementParts(sql, dialect string) (names map[string]bool, literals []string) {
	names = map[string]bool{}
	s := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	for s.More() {
		t := s.Next()
		text := sql[t.Start:t.End]
		switch t.Kind {
		case sqlscan.Word, sqlscan.Name:
			names[strings.ToLower(strings.Trim(text, "\"`[]"))] = true
		case sqlscan.Literal:
			if i := strings.IndexAny(text, `'"`); i >= 0 {
				text = strings.Trim(text[i:], `'"`)
			}
			if len(text) > shortLiteral {
				literals = append(literals, text, strings.ReplaceAll(text, "''", "'"))
			}
		default:
		}
	}
	slices.SortFunc(literals, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return names, literals
}
