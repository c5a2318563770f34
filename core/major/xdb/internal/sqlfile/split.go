package sqlfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// Script is what a file does.
type Script struct {
	Statements []Statement
	// NoTransaction is true where the file wants each statement to stand for itself.
	NoTransaction bool
}

// Statement is one statement, without the semicolon that ends it.
type Statement struct {
	SQL string
	// Line is that of its beginning, from 1 on.
	Line int
}

// Digests returns for each statement the SHA-256 of all up to it, in hexadecimal. Comments between them do not count.
func Digests(statements []Statement) []string {
	h := sha256.New()
	digests := make([]string, len(statements))
	for i, s := range statements {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s.SQL), s.SQL) // a hash takes everything
		digests[i] = hex.EncodeToString(h.Sum(nil))
	}
	return digests
}

// mark begins the comments that speak to Plinth.
const mark = "plinth:"

// splitter divides a text into statements.
type splitter struct {
	name    string // of the file
	text    string
	dialect string
	scan    sqlscan.Scanner
	script  Script
	now     pending

	counted, line int // the lines up to an index
}

// pending is the statement that is being read.
type pending struct {
	started    bool
	start, end int
	words      []string // the first words, in upper case
	begins     bool     // it holds the word BEGIN
}

// Split divides the file into statements as a database of the dialect does. The error names the file and the line.
func (f File) Split(dialect string) (Script, error) {
	s := &splitter{name: f.Name, text: f.Text, dialect: dialect, scan: sqlscan.New(f.Text, sqlscan.RulesOf(dialect)), line: 1}
	for s.scan.More() {
		if err := s.take(s.scan.Next()); err != nil {
			return Script{}, err
		}
	}
	if err := s.finish(); err != nil {
		return Script{}, err
	}
	return s.script, nil
}

// problem is an error at an index of the text.
func (s *splitter) problem(at int, format string, args ...any) error {
	return fmt.Errorf("migration %s:%d: %w", s.name, s.lineAt(at), fmt.Errorf(format, args...))
}

// lineAt returns the number of the line in which an index stands. Indexes mostly grow.
func (s *splitter) lineAt(at int) int {
	if at < s.counted {
		return 1 + strings.Count(s.text[:at], "\n")
	}
	s.line += strings.Count(s.text[s.counted:at], "\n")
	s.counted = at
	return s.line
}

// take adds a token to the statement.
func (s *splitter) take(t sqlscan.Token) error {
	if t.Open {
		return s.problem(t.Start, "what begins here has no end: a text, a name in quotes or a comment")
	}
	text := s.text[t.Start:t.End]
	switch {
	case t.Kind == sqlscan.Space:
		return nil
	case t.Kind == sqlscan.Comment:
		return s.comment(t)
	case t.Kind == sqlscan.Other && text == ";" || s.separates(t):
		return s.finish()
	}
	if !s.now.started {
		s.now = pending{started: true, start: t.Start}
	}
	s.now.end = t.End
	if t.Kind == sqlscan.Word {
		s.now.word(strings.ToUpper(text))
	}
	return nil
}

// separates reports whether a token is GO or / on a line of its own, which end a statement for the tools of SQL Server
// and Oracle.
func (s *splitter) separates(t sqlscan.Token) bool {
	word := s.text[t.Start:t.End]
	switch s.dialect {
	case "sqlserver":
		return strings.EqualFold(word, "GO") && s.alone(t.Start, t.End)
	case "oracle":
		return word == "/" && s.alone(t.Start, t.End)
	default:
		return false
	}
}

// alone reports whether nothing else stands on the line.
func (s *splitter) alone(start, end int) bool {
	before := s.text[strings.LastIndexByte(s.text[:start], '\n')+1 : start]
	after, _, _ := strings.Cut(s.text[end:], "\n")
	return strings.TrimSpace(before) == "" && strings.TrimSpace(after) == ""
}

// finish ends the statement, if one has begun.
func (s *splitter) finish() error {
	if !s.now.started {
		return nil
	}
	if refusal := s.now.refusal(s.dialect); refusal != "" {
		return s.problem(s.now.start, "%s", refusal)
	}
	s.script.Statements = append(s.script.Statements, Statement{
		SQL: s.text[s.now.start:s.now.end], Line: s.lineAt(s.now.start),
	})
	s.now = pending{}
	return nil
}

// directive returns what a line tells Plinth: begin of "-- plinth:begin".
func directive(line string) (word string, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
	if !ok {
		return "", false
	}
	return strings.CutPrefix(strings.TrimSpace(text), mark)
}

// comment does what a comment tells Plinth.
func (s *splitter) comment(t sqlscan.Token) error {
	text := s.text[t.Start:t.End]
	word, ok := directive(text)
	switch {
	case !ok:
		return nil
	case !s.alone(t.Start, t.Start+len(strings.TrimRight(text, "\n"))):
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

// block takes the lines up to -- plinth:end as one statement.
func (s *splitter) block(t sqlscan.Token) error {
	if s.now.started {
		return s.problem(s.now.start, "the statement before -- plinth:begin has no end: add a semicolon")
	}
	from := t.End
	for at := from; at < len(s.text); {
		line, _, _ := strings.Cut(s.text[at:], "\n")
		next := min(at+len(line)+1, len(s.text))
		switch word, _ := directive(line); word {
		case "begin":
			return s.problem(at, "-- plinth:begin within a block: the one before has no -- plinth:end")
		case "end":
			s.addBlock(from, at)
			s.scan.Skip(next)
			return nil
		}
		at = next
	}
	return s.problem(t.Start, "-- plinth:begin without -- plinth:end")
}

// addBlock adds the statement between two indexes, unless it is only comments.
func (s *splitter) addBlock(from, to int) {
	body := s.text[from:to]
	scan := sqlscan.New(body, sqlscan.RulesOf(s.dialect))
	for scan.More() {
		if k := scan.Next().Kind; k != sqlscan.Space && k != sqlscan.Comment {
			start := from + len(body) - len(strings.TrimLeft(body, " \t\r\n\v\f"))
			s.script.Statements = append(s.script.Statements, Statement{SQL: strings.TrimSpace(body), Line: s.lineAt(start)})
			return
		}
	}
}
