package sqlserver

import (
	"strconv"

	"gorm.io/gorm/clause"
)

// build writes the statement.
func (in *insert) build() {
	identity := in.setsIdentity()
	if identity {
		in.identityInsert("ON")
	}
	if in.merges() {
		in.buildMerge()
	} else {
		in.buildInsert()
	}
	in.text(";")
	if identity {
		in.identityInsert("OFF")
	}
}

// setsIdentity reports whether the application gives a column its value that otherwise
// counts by itself.
func (in *insert) setsIdentity() bool {
	s := in.db.Statement.Schema
	if s == nil || s.PrioritizedPrimaryField == nil || !s.PrioritizedPrimaryField.AutoIncrement {
		return false
	}
	for _, column := range in.values.Columns {
		if column.Name == s.PrioritizedPrimaryField.DBName {
			return true
		}
	}
	return false
}

func (in *insert) identityInsert(state string) {
	in.text("SET IDENTITY_INSERT ")
	in.quoted(clause.Table{Name: clause.CurrentTable})
	in.text(" " + state + ";")
}

func (in *insert) buildInsert() {
	stmt := in.db.Statement
	stmt.AddClauseIfNotExists(clause.Insert{})
	stmt.Build("INSERT")
	in.text(" ")
	if len(in.values.Columns) == 0 {
		in.output()
		in.text("DEFAULT VALUES")
		return
	}
	in.columns("")
	in.text(" ")
	in.output()
	in.text("VALUES ")
	in.rows()
}

// rows writes the values of each row.
func (in *insert) rows() {
	for i, row := range in.values.Values {
		if i > 0 {
			in.text(",")
		}
		in.text("(")
		in.db.Statement.AddVar(in.db.Statement, row...)
		if in.numbered() {
			if len(row) > 0 {
				in.text(",")
			}
			in.text(strconv.Itoa(i))
		}
		in.text(")")
	}
}

// columns writes the names of the columns in brackets.
func (in *insert) columns(table string) {
	in.text("(")
	for i, column := range in.values.Columns {
		if i > 0 {
			in.text(",")
		}
		in.quoted(clause.Column{Table: table, Name: column.Name})
	}
	in.text(")")
}

// output asks for the values that the server makes.
func (in *insert) output() {
	for i, field := range in.returned {
		if i == 0 {
			in.text("OUTPUT ")
		} else {
			in.text(",")
		}
		in.text("INSERTED.")
		in.quoted(clause.Column{Name: field.DBName})
	}
	if in.numbered() {
		in.text(",")
		in.quoted(clause.Column{Table: excluded, Name: rowColumn})
	}
	if len(in.returned) > 0 {
		in.text(" ")
	}
}

func (in *insert) text(s string) { _, _ = in.db.Statement.WriteString(s) }

func (in *insert) quoted(name any) { in.db.Statement.WriteQuoted(name) }
