package migrate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

// shortLiteral is the maximum length of a literal that may appear in an error. Such a
// literal is not a secret, and it is often part of other words.
const shortLiteral = 3

// valueError is an error of a statement without its values.
type valueError struct {
	text  string
	cause error
}

// Error implements error.
func (e *valueError) Error() string { return e.text }

// Unwrap returns the error of the library.
func (e *valueError) Unwrap() error { return e.cause }

// withoutValues removes all literals of the file from the error of a statement, because a
// trigger may report a value of another statement. It keeps names, because they show the
// fix.
func withoutValues(err error, file []sqlfile.Statement, prefix, dialect string) error {
	p := parts{names: map[string]bool{}}
	for _, s := range file {
		p.read(strings.ReplaceAll(s.SQL, prefixMark, prefix), sqlscan.RulesOf(dialect))
	}
	slices.SortFunc(p.literals, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	text := err.Error()
	for _, literal := range p.literals {
		text = strings.ReplaceAll(text, literal, "?")
	}
	text = quotations().ReplaceAllStringFunc(text, func(quoted string) string {
		inner := quoted[1 : len(quoted)-1]
		last := inner[strings.LastIndexByte(inner, '.')+1:] // of schema.table
		if p.names[strings.ToLower(inner)] || p.names[strings.ToLower(last)] {
			return quoted
		}
		return "?"
	})
	if text == err.Error() {
		return err
	}
	return &valueError{text: text, cause: err}
}

// quotations match quoted values and names in an error.
var quotations = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`")
})

// parts are the names and literals of statements.
type parts struct {
	names    map[string]bool // in lower case
	literals []string        // longer than shortLiteral
}

// read adds the parts of sql. Dollar quotes may contain nested SQL.
func (p *parts) read(sql string, rules sqlscan.Rules) {
	s := sqlscan.New(sql, rules)
	for s.More() {
		t := s.Next()
		text := sql[t.Start:t.End]
		switch t.Kind {
		case sqlscan.Word, sqlscan.Name:
			p.names[strings.ToLower(strings.Trim(text, "\"`[]"))] = true
		case sqlscan.Literal:
			if strings.HasPrefix(text, "$") {
				tag, inside, _ := strings.Cut(text[1:], "$")
				text = strings.TrimSuffix(inside, "$"+tag+"$")
				p.read(text, rules)
			} else if i := strings.IndexAny(text, `'"`); i >= 0 {
				text = strings.Trim(text[i:], `'"`)
			}
			p.literal(text)
		default:
		}
	}
}

// literal adds a string and its parts between percent signs. If the string is a format,
// an error contains these parts and a value for each verb.
func (p *parts) literal(text string) {
	for _, piece := range append(strings.Split(text, "%"), text) {
		if len(piece) > shortLiteral {
			p.literals = append(p.literals, piece, strings.ReplaceAll(piece, "''", "'"))
		}
	}
}
