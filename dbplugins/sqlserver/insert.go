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

// setsIdentity reports whether the insert sets an identity column.
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
	in.each(len(in.values.Values), ",", func(i int) {
		row := in.values.Values[i]
		in.text("(")
		in.db.Statement.AddVar(in.db.Statement, row...)
		if in.numbered() {
			if len(row) > 0 {
				in.text(",")
			}
			in.text(strconv.Itoa(i))
		}
		in.text(")")
	})
}

// columns writes the column names in parentheses.
func (in *insert) columns(table string) {
	in.text("(")
	in.each(len(in.values.Columns), ",", func(i int) {
		in.quoted(clause.Column{Table: table, Name: in.values.Columns[i].Name})
	})
	in.text(")")
}

// output writes the OUTPUT clause for fields that the server sets.
func (in *insert) output() {
	if len(in.returned) == 0 {
		return
	}
	in.text("OUTPUT ")
	in.each(len(in.returned), ",", func(i int) {
		in.text("INSERTED.")
		in.quoted(clause.Column{Name: in.returned[i].DBName})
	})
	if in.numbered() {
		in.text(",")
		in.quoted(clause.Column{Table: excluded, Name: rowColumn})
	}
	in.text(" ")
}

// each calls do with 0 to n-1 and writes the separator between the calls.
func (in *insert) each(n int, separator string, do func(i int)) {
	for i := range n {
		if i > 0 {
			in.text(separator)
		}
		do(i)
	}
}

func (in *insert) text(s string) { _, _ = in.db.Statement.WriteString(s) }

func (in *insert) quoted(name any) { in.db.Statement.WriteQuoted(name) }
