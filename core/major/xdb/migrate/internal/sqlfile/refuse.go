package sqlfile

import (
	"slices"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
)

const (
	// firstWords is the number of words that determine what a statement is.
	firstWords = 12

	useBlock = "put it between the lines -- plinth:begin and -- plinth:end"
)

// pending is a statement that is being read.
type pending struct {
	started    bool
	start, end int
	words      []string // the first words, in upper case
	begins     bool     // it holds the word BEGIN
	depth      int      // how many parentheses are open
	opened     int      // the index of the outermost
}

// word notes a word of the statement.
func (p *pending) word(upper string) {
	if len(p.words) < firstWords {
		p.words = append(p.words, upper)
	}
	p.begins = p.begins || upper == "BEGIN"
}

// at returns a word of the statement, or "".
func (p *pending) at(i int) string {
	if i < len(p.words) {
		return p.words[i]
	}
	return ""
}

// refusal returns why a migration must not contain the statement, or "".
func (p *pending) refusal(sql, dialect string) string {
	switch first := p.at(0); first {
	case "BEGIN":
		return first + " " + ownTx + "; if it begins a block of statements, " + useBlock
	case "END":
		return first + " ends a transaction, or a block of statements: remove it, or " + useBlock
	case "DELIMITER":
		return "DELIMITER is a command of a client, not of the database: where a statement holds semicolons, " + useBlock
	case "DECLARE":
		return refusedDeclare(dialect)
	case "COPY":
		return refusedCopy(sql, dialect)
	case "CREATE", "ALTER":
		return p.refusedRoutine(dialect)
	default:
		return p.ownTransaction(sql, dialect)
	}
}

// refusedDeclare returns why a declaration must be in a block, or "".
func refusedDeclare(dialect string) string {
	switch dialect {
	case "oracle":
		return "DECLARE begins a block of statements: " + useBlock
	case "sqlserver":
		return "DECLARE makes a variable that ends with its statement: put all that uses it between the lines " +
			"-- plinth:begin and -- plinth:end"
	default:
		return ""
	}
}

// refusedCopy returns why a COPY is rejected, or "".
func refusedCopy(sql, dialect string) string {
	all := tokens(sql, dialect)
	if len(all) > 1 && all[1] == "(" { // a query, which is copied to somewhere
		return ""
	}
	for i := 1; i < len(all); i++ {
		if all[i-1] == "FROM" && all[i] == "STDIN" {
			return "COPY FROM STDIN waits for rows that no migration sends: write INSERT statements"
		}
	}
	return ""
}

// modifiers are allowed between CREATE and what is created.
var modifiers = []string{
	"OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "CONSTRAINT", "AGGREGATE", "EDITIONABLE", "NONEDITIONABLE", "DEFINER",
	"AND", "RESOLVE", "COMPILE", "NOFORCE",
}

// routines are what can hold statements.
var routines = []string{"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "PACKAGE", "EVENT", "JAVA", "TYPE BODY"}

// refusedRoutine returns why a routine must be in a block, or "".
func (p *pending) refusedRoutine(dialect string) string {
	const semicolons = " holds semicolons that end nothing: "
	switch what := p.routine(); {
	case what == "":
		return ""
	case what == "JAVA", what == "TYPE BODY":
		if dialect == "oracle" && p.at(0) == "CREATE" {
			return p.at(0) + " " + what + semicolons + useBlock
		}
		return ""
	case p.begins:
		return p.at(0) + " " + what + " with a BEGIN" + semicolons + useBlock
	case dialect == "sqlserver":
		return p.at(0) + " " + what + " reaches to the end of its batch: " + useBlock
	default:
		return ""
	}
}

// routine returns what a CREATE creates, if that can contain statements.
func (p *pending) routine() string {
	for i := 1; i < len(p.words); i++ {
		word := p.words[i]
		if word == "TYPE" {
			word += " " + p.at(i+1)
		}
		switch {
		case slices.Contains(routines, word):
			return word
		case slices.Contains(modifiers, word), p.words[i-1] == "DEFINER": // its name follows
		default:
			return ""
		}
	}
	return ""
}

// tokens returns the tokens of a statement that count, in upper case.
func tokens(sql, dialect string) []string {
	var all []string
	scan := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	for scan.More() {
		if t := scan.Next(); counts(t) {
			all = append(all, upper(sql, t))
		}
	}
	return all
}
