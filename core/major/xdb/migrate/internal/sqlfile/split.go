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

// Split divides the file into statements as a database of the dialect does. The error
// names the file and the line.
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
	text := s.text[t.Start:t.End]
	switch {
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
	}
	if ends, err := s.separates(t); err != nil {
		return err
	} else if ends {
		return s.finish()
	}
	return s.add(t)
}

// add adds a token that is a part of the statement, or begins it.
func (s *splitter) add(t sqlscan.Token) error {
	if !s.now.started {
		if err := s.afterSlash(t); err != nil {
			return err
		}
		s.now = pending{started: true, start: t.Start}
	}
	s.now.end = t.End
	switch text := s.text[t.Start:t.End]; {
	case t.Kind == sqlscan.Word:
		s.now.word(strings.ToUpper(text))
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
	sql := s.text[s.now.start:s.now.end]
	if refusal := s.now.refusal(sql, s.dialect); refusal != "" {
		return s.problem(s.now.start, "%s", refusal)
	}
	s.script.Statements = append(s.script.Statements, Statement{SQL: sql, Line: s.lineAt(s.now.start)})
	s.now = pending{}
	return nil
}

// counts reports whether a database acts on a token.
func counts(t sqlscan.Token) bool { return t.Kind != sqlscan.Space && t.Kind != sqlscan.Comment }

// upper returns the text of a token in upper case.
func upper(text string, t sqlscan.Token) string { return strings.ToUpper(text[t.Start:t.End]) }
