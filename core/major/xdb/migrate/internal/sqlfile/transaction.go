package sqlfile

import (
	"slices"
	"strings"
)

const ownTx = "begins or ends a transaction, which is the migration's own: remove it"

// ownTransaction returns why a migration, whose transaction is Plinth's, must not contain
// the statement, or "".
func (p *pending) ownTransaction(sql, dialect string) string {
	first, second := p.at(0), p.at(1)
	switch first {
	case "END", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ABORT":
		return first + " " + ownTx
	case "START", "SAVE":
		if second == "TRANSACTION" || second == "TRAN" {
			return first + " " + second + " " + ownTx
		}
	}
	if dialect != "mysql" {
		return ""
	}
	switch first {
	case "XA":
		return first + " " + ownTx
	case "LOCK", "UNLOCK":
		if second == "TABLES" || second == "TABLE" {
			return first + " " + second + " ends the transaction of the migration and keeps it from its other tables: remove it"
		}
	case "SET":
		if setsAutocommit(tokens(sql, dialect)) {
			return "SET AUTOCOMMIT " + ownTx
		}
	}
	return ""
}

// setsAutocommit reports whether a SET of MySQL has the system variable on the left of =
// or :=.
func setsAutocommit(all []string) bool {
	for i, token := range all {
		if i == 0 || token != "=" {
			continue
		}
		if i--; all[i] == ":" && i > 0 {
			i--
		}
		switch strings.Trim(all[i], "`") {
		case "AUTOCOMMIT":
			return true
		case "@AUTOCOMMIT": // a variable of the user's own, unless there are two
			if i > 0 && all[i-1] == "@" {
				return true
			}
		}
	}
	return false
}

// transactionWords may follow a BEGIN that starts a transaction.
var transactionWords = []string{
	"TRANSACTION", "TRAN", "WORK", "DISTRIBUTED", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "ISOLATION",
}

// refusedBlock returns why a block must not begin as it does, or "". What follows its
// first statement may be a procedure's own.
func refusedBlock(body, dialect string) string {
	all := tokens(body, dialect)
	if all[0] == "BEGIN" {
		if beginsTransaction(all, dialect) {
			return "BEGIN " + ownTx
		}
		return ""
	}
	p := pending{words: all[:min(len(all), firstWords)]}
	return p.ownTransaction(body, dialect)
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
