package sqlfile

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

// Statement is one statement without its final semicolon, except for SQL Server.
type Statement struct {
	SQL string
	// Digest is the SHA-256 of all statements up to this one, in hexadecimal. It ignores
	// the comments between them.
	Digest string

	start int // index in the text of the file
}

// splitter splits the text of a file into statements.
type splitter struct {
	*File

	dialect string
	scan    sqlscan.Scanner
	current pending
	digest  hash.Hash
}

// pending is the current, incomplete statement.
type pending struct {
	started    bool
	start, end int
	tokens     []string // in upper case, without literals
	depth      int      // number of open parentheses
	opened     int      // index of the outermost one
}

// split splits the file by the rules of the dialect. The error names the file and the
// line.
func (f *File) split(dialect string) error {
	s := &splitter{
		File: f, dialect: dialect, scan: sqlscan.New(f.text, sqlscan.RulesOf(dialect)),
		digest: sha256.New(),
	}
	for s.scan.More() {
		if err := s.process(s.scan.Next()); err != nil {
			return err
		}
	}
	return s.finish()
}

func (s *splitter) problem(at int, format string, args ...any) error {
	return fmt.Errorf("xdb: migration %s:%d: %w", s.Name, s.lineAt(at), fmt.Errorf(format, args...))
}

// Line returns the line number of statement i, counted from 1.
func (f *File) Line(i int) int { return f.lineAt(f.Statements[i].start) }

func (f *File) lineAt(at int) int { return 1 + strings.Count(f.text[:at], "\n") }

// lineAround returns the text before and after a token on its lines, without surrounding
// white space.
func (s *splitter) lineAround(start, end int) (before, after string) {
	before = s.text[strings.LastIndexByte(s.text[:start], '\n')+1 : start]
	after, _, _ = strings.Cut(s.text[end:], "\n")
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

// process processes a token.
func (s *splitter) process(t sqlscan.Token) error {
	switch text := s.text[t.Start:t.End]; {
	case t.Open:
		return s.problem(t.Start, "unterminated string, quoted name or comment")
	case t.Kind == sqlscan.Space:
		return nil
	case t.Kind == sqlscan.Comment:
		return s.comment(t)
	case text == ";" && s.current.depth == 0:
		if s.dialect == "sqlserver" { // a MERGE requires it
			s.current.end = t.End
		}
		return s.finish()
	case s.isSeparator(t, text):
		return s.endBatch(t, text)
	default:
		return s.add(t, text)
	}
}

// isSeparator reports whether a token is GO or / on a line of its own, the batch
// separators of the SQL Server and Oracle tools. GO may be followed by a number, a
// semicolon and a comment.
func (s *splitter) isSeparator(t sqlscan.Token, text string) bool {
	batch := s.dialect == "sqlserver" && strings.EqualFold(text, "GO")
	slash := s.dialect == "oracle" && text == "/" && s.current.depth == 0
	if !batch && !slash {
		return false
	}
	before, after := s.lineAround(t.Start, t.End)
	if batch {
		after, _, _ = strings.Cut(after, "--")
		after = strings.Trim(after, "0123456789; \t")
	}
	return before == "" && after == ""
}

// endBatch finishes the statement before GO or /.
func (s *splitter) endBatch(t sqlscan.Token, text string) error {
	_, after := s.lineAround(t.Start, t.End)
	switch {
	case text != "/" && strings.IndexAny(after, "0123456789") == 0:
		return s.problem(t.Start,
			"GO with a number repeats a batch, which migrations do not support: "+
				"remove the number and repeat the statements")
	case text == "/" && s.current.started: // half of an UPDATE would change every row
		return s.problem(t.Start, "/ on a line of its own: "+
			"end the statement before it with a semicolon, or write a division on one line")
	default:
		return s.finish()
	}
}

func (s *splitter) add(t sqlscan.Token, text string) error {
	if !s.current.started {
		s.current = pending{started: true, start: t.Start}
	}
	s.current.end = t.End
	if t.Kind != sqlscan.Literal {
		s.current.tokens = append(s.current.tokens, strings.ToUpper(text))
	}
	switch {
	case text == "(":
		if s.current.depth == 0 {
			s.current.opened = t.Start
		}
		s.current.depth++
	case text == ")":
		if s.current.depth--; s.current.depth < 0 {
			return s.problem(t.Start, "unmatched closing parenthesis")
		}
	case text == `\` && s.dialect != "mysql": // in MySQL, \N may be a value
		if before, _ := s.lineAround(t.Start, t.End); before == "" {
			return s.problem(t.Start, `\ starts a psql command, not SQL: remove it`)
		}
	}
	return nil
}

func (s *splitter) finish() error {
	if !s.current.started {
		return nil
	}
	if s.current.depth > 0 {
		return s.problem(s.current.opened, "unclosed parenthesis")
	}
	if rejection := rejection(s.current.tokens, s.dialect); rejection != "" {
		return s.problem(s.current.start, "%s", rejection)
	}
	s.addStatement(s.current.start, s.current.end)
	s.current = pending{}
	return nil
}

func (s *splitter) addStatement(start, end int) {
	sql := s.text[start:end]
	_, _ = fmt.Fprintf(s.digest, "%d:%s", len(sql), sql) // a hash returns no error
	s.Statements = append(s.Statements,
		Statement{SQL: sql, Digest: fmt.Sprintf("%x", s.digest.Sum(nil)), start: start})
}
