package sqlfile

import "slices"

const (
	// firstWords is how many words say what a statement is.
	firstWords = 12

	useBlock = "put it between the lines -- plinth:begin and -- plinth:end"
	ownTx    = "begins or ends a transaction, which is the migration's own: remove it"
)

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

// refusal says why a statement must not stand in a migration as it does, or "".
func (p *pending) refusal(dialect string) string {
	switch first := p.at(0); first {
	case "BEGIN":
		return first + " " + ownTx + "; if it begins a block of statements, " + useBlock
	case "END":
		return first + " ends a transaction, or a block of statements: remove it, or " + useBlock
	case "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ABORT":
		return first + " " + ownTx
	case "START", "SAVE":
		if second := p.at(1); second == "TRANSACTION" || second == "TRAN" {
			return first + " " + second + " " + ownTx
		}
	case "DELIMITER":
		return "DELIMITER is a command of a client, not of the database: where a statement holds semicolons, " + useBlock
	case "DECLARE":
		if dialect == "oracle" {
			return "DECLARE begins a block of statements: " + useBlock
		}
	case "CREATE", "ALTER":
		return p.refusedRoutine(dialect)
	}
	return ""
}

// modifiers may stand between CREATE and what is created.
var modifiers = []string{
	"OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "CONSTRAINT", "AGGREGATE", "EDITIONABLE", "NONEDITIONABLE", "DEFINER",
}

// routines are what can hold statements.
var routines = []string{"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "PACKAGE", "EVENT"}

// refusedRoutine says why a routine must stand in a block, or "".
func (p *pending) refusedRoutine(dialect string) string {
	switch what := p.routine(); {
	case what == "":
		return ""
	case p.begins:
		return p.at(0) + " " + what + " with a BEGIN holds semicolons that end nothing: " + useBlock
	case dialect == "sqlserver":
		return p.at(0) + " " + what + " reaches to the end of its batch: " + useBlock
	default:
		return ""
	}
}

// routine returns what a CREATE makes, where that can hold statements.
func (p *pending) routine() string {
	for i := 1; i < len(p.words); i++ {
		word := p.words[i]
		switch {
		case slices.Contains(routines, word):
			return word
		case slices.Contains(modifiers, word), p.words[i-1] == "DEFINER": // whose name follows
		default:
			return ""
		}
	}
	return ""
}
