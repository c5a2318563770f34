package sqlfile

import (
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// mark is the prefix of comments that are directives.
const mark = "plinth:"

// lineComment returns the text of a line that is only a comment, in lower case.
func lineComment(line string) (text string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(line), "--")
	return strings.ToLower(strings.TrimSpace(text)), ok
}

// directive returns the directive of a line: begin of "-- plinth:begin".
func directive(line string) (word string, ok bool) {
	text, ok := lineComment(line)
	if !ok {
		return "", false
	}
	return strings.CutPrefix(text, mark)
}

// foreign returns the mark of goose, sql-migrate or dbmate that a line is, or "".
func foreign(line string) string {
	text, _ := lineComment(line)
	first, _, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	switch {
	case first == "+goose", first == "+migrate":
		return first
	case strings.HasPrefix(first, "migrate:") && first != "migrate:": // else it is prose
		return "migrate:"
	default:
		return ""
	}
}

// refuseForeign refuses a mark of another tool.
func (s *splitter) refuseForeign(at int, line string) error {
	if tool := foreign(line); tool != "" {
		return s.problem(at, "-- %s is a mark of another tool, of whose file every part would run: "+
			"keep the part that goes up, and remove the marks", tool)
	}
	return nil
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
		return s.problem(t.Start, "-- %s%s stands on a line of its own", mark, word)
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
	from := t.End
	for at := from; at < len(s.text); {
		line, _, _ := strings.Cut(s.text[at:], "\n")
		next := min(at+len(line)+1, len(s.text))
		if err := s.refuseForeign(at, line); err != nil {
			return err
		}
		switch word, _ := directive(line); word {
		case "begin":
			return s.problem(at, "-- plinth:begin within a block: the one before has no -- plinth:end")
		case "end":
			s.scan.Skip(next)
			return s.addBlock(from, at)
		}
		at = next
	}
	return s.problem(t.Start, "-- plinth:begin without -- plinth:end")
}

// addBlock adds the statement between two indexes, unless it is only comments.
func (s *splitter) addBlock(from, to int) error {
	body := s.text[from:to]
	scan := sqlscan.New(body, sqlscan.RulesOf(s.dialect))
	for scan.More() {
		t := scan.Next()
		if !counts(t) {
			continue
		}
		if refusal := refusedBlock(body, s.dialect); refusal != "" {
			return s.problem(from+t.Start, "%s", refusal)
		}
		start := from + len(body) - len(strings.TrimLeft(body, " \t\r\n\v\f"))
		s.script.Statements = append(s.script.Statements, Statement{SQL: strings.TrimSpace(body), Line: s.lineAt(start)})
		s.slash = 0
		return nil
	}
	return nil
}
