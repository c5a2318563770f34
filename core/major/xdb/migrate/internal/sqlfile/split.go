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
	// NoTransaction reports whether each statement is to run outside of a transaction.
	NoTransaction bool
}

// Statement is one statement, without the semicolon that ends it; for SQL Server with it.
type Statement struct {
	SQL string
	// Line is that of its beginning, from 1 on.
	Line int
}

// Digests returns for each statement the SHA-256 of all up to it, in hexadecimal.
// Comments between them do not count.
func Digests(statements []Statement) []string {
	h := sha256.New()
	digests := make([]string, len(statements))
	for i, s := range statements {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s.SQL), s.SQL) // a hash returns no error
		digests[i] = hex.EncodeToString(h.Sum(nil))
	}
	return digests
}

// splitter divides a text into statements.
type splitter struct {
	name    string // of the file
	text    string
	dialect string
	scan    sqlscan.Scanner
	script  Script
	now     pending
	slash   int // the index of the / that has ended the last statement, or 0

	counted, line int // the lines up to an index
}

// pending is a statement that is being read.
type pending struct {
	started    bool
	start, end int
	tokens     []string // in upper case, without the literals
	depth      int      // how many parentheses are open
	opened     int      // the index of the outermost
}

// Split divides the file into statements as a database of the dialect does. The error
// names the file and the line.
func (f File) Split(dialect string) (Script, error) {
	s := &splitter{name: f.Name, text: f.Text, dialect: dialect, scan: sqlscan.New(f.Text, sqlscan.RulesOf(dialect)), line: 1}
	for s.scan.More() {
		if err := s.take(s.scan.Next()); err != nil {
			return Script{}, err
		}
	}
	err := s.finish()
	return s.script, err
}

// problem is an error at an index of the text.
func (s *splitter) problem(at int, format string, args ...any) error {
	return fmt.Errorf("migration %s:%d: %w", s.name, s.lineAt(at), fmt.Errorf(format, args...))
}

// lineAt returns the number of the line of an index. Indexes mostly grow.
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
	switch text := s.text[t.Start:t.End]; {
	case t.Open:
		return s.problem(t.Start, "what begins here has no end: a text, a name in quotes or a comment")
	case t.Kind == sqlscan.Space:
		return nil
	case t.Kind == sqlscan.Comment:
		return s.comment(t)
	case text == ";" && s.now.depth == 0:
		if s.dialect == "sqlserver" { // a MERGE requires it
			s.now.end = t.End
		}
		return s.finish()
	case s.separates(t, text):
		return s.separate(t, text)
	default:
		return s.add(t, text)
	}
}

// add adds a token that is a part of the statement, or begins it.
func (s *splitter) add(t sqlscan.Token, text string) error {
	if !s.now.started {
		if err := s.afterSlash(text); err != nil {
			return err
		}
		s.now = pending{started: true, start: t.Start}
	}
	s.now.end = t.End
	if t.Kind != sqlscan.Literal {
		s.now.tokens = append(s.now.tokens, strings.ToUpper(text))
	}
	switch {
	case text == "(":
		if s.now.depth == 0 {
			s.now.opened = t.Start
		}
		s.now.depth++
	case text == ")":
		if s.now.depth--; s.now.depth < 0 {
			return s.problem(t.Start, "this parenthesis ends none")
		}
	case text == `\` && s.dialect != "mysql": // \N may be a value there
		if before, _ := s.lineAround(t.Start, t.End); before == "" {
			return s.problem(t.Start, `\ begins a command of psql, not of the database: remove it`)
		}
	}
	return nil
}

// finish ends the statement, if there is one.
func (s *splitter) finish() error {
	if !s.now.started {
		return nil
	}
	if s.now.depth > 0 {
		return s.problem(s.now.opened, "this parenthesis has no end")
	}
	if refusal := refusal(s.now.tokens, s.dialect); refusal != "" {
		return s.problem(s.now.start, "%s", refusal)
	}
	s.script.Statements = append(s.script.Statements,
		Statement{SQL: s.text[s.now.start:s.now.end], Line: s.lineAt(s.now.start)})
	s.now = pending{}
	return nil
}
