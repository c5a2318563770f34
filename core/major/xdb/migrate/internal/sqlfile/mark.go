package sqlfile

import (
	"regexp"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// directivePattern matches the comments that are directives of Plinth, goose, sql-migrate
// or dbmate. A comment with a space after "migrate:" is not a directive.
var directivePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^\s*--\s*(?:plinth:(.*?)\s*$|(\+goose|\+migrate)(?:\s|$)|(migrate:)\S)`)
})

// directiveOf returns the directive of a line, such as begin for "-- plinth:begin", or
// the directive of another tool.
func directiveOf(line string) (directive, foreign string) {
	m := directivePattern().FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.ToLower(m[2] + m[3])
}

// rejectForeign returns the error for a directive of another tool.
func (s *splitter) rejectForeign(at int, foreign string) error {
	return s.problem(at, "-- %s is a directive of another tool, "+
		"and every section of the file would run: "+
		"keep the up section and remove the directives", foreign)
}

func (s *splitter) comment(t sqlscan.Token) error {
	text := strings.TrimRight(s.text[t.Start:t.End], "\n")
	before, after := s.lineAround(t.Start, t.Start+len(text))
	alone := before == "" && after == ""
	switch directive, foreign := directiveOf(text); {
	case foreign != "" && alone:
		return s.rejectForeign(t.Start, foreign)
	case directive == "":
		return nil
	case !alone:
		return s.problem(t.Start, "-- plinth:%s must be on a line of its own", directive)
	default:
		return s.directive(t, directive)
	}
}

func (s *splitter) directive(t sqlscan.Token, word string) error {
	switch word {
	case "begin":
		return s.block(t)
	case "end":
		return s.problem(t.Start, "-- plinth:end without -- plinth:begin")
	case "no-transaction":
		if s.current.started || len(s.Statements) > 0 {
			return s.problem(t.Start, "-- plinth:no-transaction must precede the first statement")
		}
		s.NoTransaction = true
		return nil
	default:
		return s.problem(t.Start, "-- plinth:%s is unknown (known: begin, end, no-transaction)",
			word)
	}
}

func (s *splitter) block(t sqlscan.Token) error {
	if s.current.started {
		return s.problem(s.current.start,
			"the statement before -- plinth:begin is not terminated: add a semicolon")
	}
	at := t.End
	for line := range strings.Lines(s.text[t.End:]) {
		directive, foreign := directiveOf(line)
		switch {
		case foreign != "":
			return s.rejectForeign(at, foreign)
		case directive == "begin":
			return s.problem(at,
				"-- plinth:begin within a block: the one before has no -- plinth:end")
		case directive == "end":
			s.scan.Skip(at + len(line))
			return s.addBlock(t.End, at)
		}
		at += len(line)
	}
	return s.problem(t.Start, "-- plinth:begin without -- plinth:end")
}

// addBlock adds the statement between two indexes, unless it contains only comments.
func (s *splitter) addBlock(from, to int) error {
	var tokens []string // without space and comments
	first := 0          // index of the first token
	scan := sqlscan.New(s.text[:to], sqlscan.RulesOf(s.dialect))
	for scan.Skip(from); scan.More(); {
		t := scan.Next()
		if t.Kind == sqlscan.Space || t.Kind == sqlscan.Comment {
			continue
		}
		if tokens == nil {
			first = t.Start
		}
		tokens = append(tokens, strings.ToUpper(s.text[t.Start:t.End]))
	}
	if tokens == nil {
		return nil
	}
	if rejection := rejectedBlock(tokens, s.dialect); rejection != "" {
		return s.problem(first, "%s", rejection)
	}
	body := strings.TrimSpace(s.text[from:to])
	start := from + strings.Index(s.text[from:to], body)
	s.addStatement(start, start+len(body))
	return nil
}
