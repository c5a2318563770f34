package sqlfile

import (
	"regexp"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// directives are the comments that say something to the splitter: -- plinth:begin.
var directives = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*--\s*plinth:(.*?)\s*$`) })

// foreign are the marks of goose, sql-migrate and dbmate. Anything else behind "migrate:" is prose.
var foreign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*--\s*(?:(\+goose|\+migrate)(?:\s|$)|(migrate:)\S)`)
})

// directive returns the directive of a line: begin of "-- plinth:begin".
func directive(line string) (word string, ok bool) {
	m := directives().FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return strings.ToLower(m[1]), true
}

// refuseForeign refuses a mark of another tool.
func (s *splitter) refuseForeign(at int, line string) error {
	m := foreign().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	return s.problem(at, "-- %s is a mark of another tool, of whose file every part would run: "+
		"keep the part that goes up, and remove the marks", strings.ToLower(m[1]+m[2]))
}

// comment handles a comment, which may be a directive.
func (s *splitter) comment(t sqlscan.Token) error {
	text := strings.TrimRight(s.text[t.Start:t.End], "\n")
	alone := s.alone(t.Start, t.Start+len(text))
	word, ok := directive(text)
	switch {
	case !ok && alone:
		return s.refuseForeign(t.Start, text)
	case !ok:
		return nil
	case !alone:
		return s.problem(t.Start, "-- plinth:%s stands on a line of its own", word)
	}
	switch word {
	case "begin":
		return s.block(t)
	case "end":
		return s.problem(t.Start, "-- plinth:end without -- plinth:begin")
	case "no-transaction":
		if s.now.started || len(s.script.Statements) > 0 {
			return s.problem(t.Start, "-- plinth:no-transaction stands before the first statement")
		}
		s.script.NoTransaction = true
		return nil
	default:
		return s.problem(t.Start, "-- plinth:%s is unknown (known: begin, end, no-transaction)", word)
	}
}

// block adds the lines up to -- plinth:end as one statement.
func (s *splitter) block(t sqlscan.Token) error {
	if s.now.started {
		return s.problem(s.now.start, "the statement before -- plinth:begin has no end: add a semicolon")
	}
	at := t.End
	for line := range strings.Lines(s.text[t.End:]) {
		if err := s.refuseForeign(at, line); err != nil {
			return err
		}
		switch word, _ := directive(line); word {
		case "begin":
			return s.problem(at, "-- plinth:begin within a block: the one before has no -- plinth:end")
		case "end":
			s.scan.Skip(at + len(line))
			return s.addBlock(t.End, at)
		}
		at += len(line)
	}
	return s.problem(t.Start, "-- plinth:begin without -- plinth:end")
}

// addBlock adds the statement between two indexes, unless it is only comments.
func (s *splitter) addBlock(from, to int) error {
	body := s.text[from:to]
	all, first := tokens(body, s.dialect)
	if len(all) == 0 {
		return nil
	}
	if refusal := refusedBlock(all, s.dialect); refusal != "" {
		return s.problem(from+first, "%s", refusal)
	}
	start := from + len(body) - len(strings.TrimLeft(body, " \t\r\n\v\f"))
	s.script.Statements = append(s.script.Statements, Statement{SQL: strings.TrimSpace(body), Line: s.lineAt(start)})
	s.slash = 0
	return nil
}

// tokens returns the tokens on which a database acts, in upper case, and the index of the first.
func tokens(sql, dialect string) (all []string, first int) {
	scan := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	for scan.More() {
		t := scan.Next()
		if t.Kind == sqlscan.Space || t.Kind == sqlscan.Comment {
			continue
		}
		if all == nil {
			first = t.Start
		}
		all = append(all, strings.ToUpper(sql[t.Start:t.End]))
	}
	return all, first
}
