package sqlfile

import (
	"cmp"
	"slices"
	"strings"
)

const (
	useBlock = "put it between the lines -- plinth:begin and -- plinth:end"
	ownTx    = "starts or ends a transaction, but the migration already runs in one: remove it"
)

// rule rejects statements that start with one of words and contain the words of contains.
type rule struct {
	dialect  string // "": every dialect
	words    []string
	contains string
	text     string
}

// transactions are the statements that would end the transaction of the migration.
var transactions = []rule{
	{
		words: []string{
			"END", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ABORT", "START TRANSACTION",
			"SAVE TRANSACTION", "SAVE TRAN",
		},
		text: ownTx,
	},
	{dialect: "mysql", words: []string{"XA"}, text: ownTx},
	{dialect: "mysql", words: []string{"SET"}, contains: "AUTOCOMMIT", text: ownTx},
	{
		dialect: "mysql",
		words:   []string{"LOCK TABLES", "LOCK TABLE", "UNLOCK TABLES", "UNLOCK TABLE"},
		text: "ends the transaction of the migration and blocks access to its other tables: " +
			"remove it",
	},
}

// others are the statements that are rejected outside a block.
var others = []rule{
	{
		words: []string{"BEGIN"},
		text:  ownTx + "; if it starts a block of statements, " + useBlock,
	},
	{
		words: []string{"END"},
		text:  "closes a transaction or a block of statements: remove it, or " + useBlock,
	},
	{
		words: []string{"DELIMITER"},
		text:  "is a client command, not SQL: if a statement contains semicolons, " + useBlock,
	},
	{
		dialect: "oracle", words: []string{"DECLARE"},
		text: "starts a block of statements: " + useBlock,
	},
	{
		dialect: "oracle", words: []string{"CREATE"}, contains: "JAVA SOURCE",
		text: "contains semicolons that do not end the statement: " + useBlock,
	},
	{
		dialect: "sqlserver", words: []string{"DECLARE"},
		text: "declares a variable that only its own statement can use: " +
			"put every statement that uses it between the lines -- plinth:begin and -- plinth:end",
	},
	{
		words: []string{"COPY"}, contains: "FROM STDIN",
		text: "reads rows that a migration cannot send: write INSERT statements",
	},
}

// rejection returns why a migration must not contain the statement, or "".
func rejection(tokens []string, dialect string) string {
	return cmp.Or(find(others, tokens, dialect), find(transactions, tokens, dialect),
		rejectedRoutine(tokens, dialect))
}

// transactionWords may follow a BEGIN that starts a transaction.
var transactionWords = []string{
	"TRANSACTION", "TRAN", "WORK", "DISTRIBUTED", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "ISOLATION",
}

// rejectedBlock returns why a block must not start with its first statement, or "". The
// statements after it may belong to a procedure.
func rejectedBlock(tokens []string, dialect string) string {
	if tokens[0] == "BEGIN" && startsTransaction(tokens, dialect) {
		return "BEGIN " + ownTx
	}
	return find(transactions, tokens, dialect)
}

// startsTransaction reports whether BEGIN starts a transaction rather than a block of
// statements.
func startsTransaction(tokens []string, dialect string) bool {
	switch {
	case len(tokens) == 1:
		return true
	case tokens[1] == ";": // SQL Server: an empty statement of the block
		return dialect != "sqlserver" || len(tokens) == 2
	default: // PL/SQL: these may be names of procedures
		return dialect != "oracle" && slices.Contains(transactionWords, tokens[1])
	}
}

func find(rules []rule, tokens []string, dialect string) string {
	first := strings.Join(tokens[:min(len(tokens), 2)], " ") + " "
	for _, r := range rules {
		i := slices.IndexFunc(r.words,
			func(words string) bool { return strings.HasPrefix(first, words+" ") })
		if i >= 0 && (r.dialect == "" || r.dialect == dialect) &&
			containsWords(tokens, r.contains) {
			return strings.TrimSpace(r.words[i]+" "+r.contains) + " " + r.text
		}
	}
	return ""
}

// containsWords reports whether a statement contains words, which are separated by
// spaces, in sequence.
func containsWords(tokens []string, words string) bool {
	list := strings.Fields(words)
	same := func(token, word string) bool { return strings.Trim(token, "@`") == word }
	for i := range tokens {
		if slices.EqualFunc(tokens[i:min(i+len(list), len(tokens))], list, same) {
			return true
		}
	}
	return len(list) == 0
}

// modifiers may appear between CREATE and the kind of object.
var modifiers = []string{
	"OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "CONSTRAINT", "AGGREGATE", "EDITIONABLE",
	"NONEDITIONABLE",
}

// routines may contain statements.
var routines = []string{"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "PACKAGE", "EVENT"}

// rejectedRoutine returns why a routine must be in a block, or "".
func rejectedRoutine(tokens []string, dialect string) string {
	switch what := created(tokens); {
	case what == "":
		return ""
	case slices.Contains(tokens, "BEGIN"):
		return tokens[0] + " " + what +
			" with a BEGIN contains semicolons that do not end the statement: " + useBlock
	case dialect == "sqlserver":
		return tokens[0] + " " + what + " extends to the end of its batch: " + useBlock
	default:
		return ""
	}
}

// created returns the kind of the routine that a statement creates or alters, or "".
func created(tokens []string) string {
	// a statement that is only a literal has no tokens
	if len(tokens) == 0 || tokens[0] != "CREATE" && tokens[0] != "ALTER" {
		return ""
	}
	definer := false // the name of a DEFINER has several tokens
	for _, token := range tokens[1:] {
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
