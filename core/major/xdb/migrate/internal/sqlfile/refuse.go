package sqlfile

import (
	"cmp"
	"slices"
	"strings"
)

const (
	useBlock = "put it between the lines -- plinth:begin and -- plinth:end"
	ownTx    = "begins or ends a transaction, which is the migration's own: remove it"
)

// rule refuses the statements that begin with one of words, and contain others unless
// those are "".
type rule struct {
	dialect  string // "" is every one
	words    []string
	contains string
	text     string
}

// transactions are the statements that would end the transaction of a migration, which is
// Plinth's.
var transactions = []rule{
	{words: []string{
		"END", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ABORT", "START TRANSACTION",
		"SAVE TRANSACTION", "SAVE TRAN",
	}, text: ownTx},
	{dialect: "mysql", words: []string{"XA"}, text: ownTx},
	{dialect: "mysql", words: []string{"SET"}, contains: "AUTOCOMMIT", text: ownTx},
	{
		dialect: "mysql", words: []string{
			"LOCK TABLES", "LOCK TABLE", "UNLOCK TABLES",
			"UNLOCK TABLE",
		},
		text: "ends the transaction of the migration and keeps it from its other tables: remove it",
	},
}

// others are refused outside of a block.
var others = []rule{
	{words: []string{"BEGIN"}, text: ownTx + "; if it begins a block of statements, " + useBlock},
	{words: []string{"END"}, text: "ends a transaction, or a block of statements: remove it, or " +
		useBlock},
	{words: []string{"DELIMITER"}, text: "is a command of a client, not of the database: " +
		"where a statement holds semicolons, " + useBlock},
	{
		dialect: "oracle", words: []string{"DECLARE"},
		text: "begins a block of statements: " + useBlock,
	},
	{
		dialect: "oracle", words: []string{"CREATE"}, contains: "JAVA SOURCE",
		text: "holds semicolons that end nothing: " + useBlock,
	},
	{
		dialect: "sqlserver", words: []string{"DECLARE"},
		text: "makes a variable that ends with its statement: " +
			"put all that uses it between the lines -- plinth:begin and -- plinth:end",
	},
	{
		words: []string{"COPY"}, contains: "FROM STDIN",
		text: "waits for rows that no migration sends: write INSERT statements",
	},
}

// refusal returns why a migration must not contain the statement, or "".
func refusal(all []string, dialect string) string {
	return cmp.Or(find(others, all, dialect), find(transactions, all, dialect),
		refusedRoutine(all, dialect))
}

// transactionWords may follow a BEGIN that starts a transaction.
var transactionWords = []string{
	"TRANSACTION", "TRAN", "WORK", "DISTRIBUTED", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "ISOLATION",
}

// refusedBlock returns why a block must not begin as it does, or "". What follows its
// first statement may be a procedure's own.
func refusedBlock(all []string, dialect string) string {
	if all[0] == "BEGIN" && beginsTransaction(all, dialect) {
		return "BEGIN " + ownTx
	}
	return find(transactions, all, dialect)
}

// beginsTransaction reports whether a BEGIN with what follows it is no block of
// statements.
func beginsTransaction(all []string, dialect string) bool {
	switch {
	case len(all) == 1:
		return true
	case all[1] == ";": // an empty statement of the block for SQL Server
		return dialect != "sqlserver" || len(all) == 2
	default: // in PL/SQL all these may be names of procedures
		return dialect != "oracle" && slices.Contains(transactionWords, all[1])
	}
}

// find returns why one of rules refuses a statement, or "".
func find(rules []rule, all []string, dialect string) string {
	first := strings.Join(all[:min(len(all), 2)], " ") + " "
	for _, r := range rules {
		begins := slices.IndexFunc(r.words,
			func(words string) bool { return strings.HasPrefix(first, words+" ") })
		if begins >= 0 && (r.dialect == "" || r.dialect == dialect) && holds(all, r.contains) {
			return strings.TrimSpace(r.words[begins]+" "+r.contains) + " " + r.text
		}
	}
	return ""
}

// holds reports whether a statement has words, which spaces separate, one behind the
// other.
func holds(all []string, words string) bool {
	want := strings.Fields(words)
	same := func(token, word string) bool { return strings.Trim(token, "@`") == word }
	for i := range all {
		if slices.EqualFunc(all[i:min(i+len(want), len(all))], want, same) {
			return true
		}
	}
	return len(want) == 0
}

// modifiers are allowed between CREATE and what is created.
var modifiers = []string{
	"OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "CONSTRAINT", "AGGREGATE", "EDITIONABLE",
	"NONEDITIONABLE",
}

// routines are what can hold statements.
var routines = []string{"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "PACKAGE", "EVENT"}

// refusedRoutine returns why a routine must be in a block, or "".
func refusedRoutine(all []string, dialect string) string {
	switch what := created(all); {
	case what == "":
		return ""
	case slices.Contains(all, "BEGIN"):
		return all[0] + " " + what + " with a BEGIN holds semicolons that end nothing: " + useBlock
	case dialect == "sqlserver":
		return all[0] + " " + what + " reaches to the end of its batch: " + useBlock
	default:
		return ""
	}
}

// created returns the routine that a statement creates or alters, or "".
func created(all []string) string {
	// none of a statement that is a literal
	if len(all) == 0 || all[0] != "CREATE" && all[0] != "ALTER" {
		return ""
	}
	definer := false // whose name has several tokens
	for _, token := range all[1:] {
		definer = definer || token == "DEFINER"
		switch {
		case slices.Contains(routines, token):
			return token
		case !definer && !slices.Contains(modifiers, token):
			return ""
		}
	}
	return ""
}
