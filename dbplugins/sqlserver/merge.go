package sqlserver

import (
	"slices"

	"gorm.io/gorm/clause"
)

// rowColumn numbers the rows of a MERGE, because the server returns them in any order.
const rowColumn = "plinth_row"

// numbered reports whether the server returns the row numbers.
func (in *insert) numbered() bool { return len(in.returned) > 0 && in.merges() }

// merges reports whether the statement is a MERGE. INSERT has no conflict clause and
// returns rows in an undefined order.
func (in *insert) merges() bool {
	return in.upsert != nil || len(in.returned) > 0 && len(in.values.Values) > 1
}

// buildMerge writes a MERGE statement. HOLDLOCK prevents another transaction from
// inserting the same row between the check and the insert.
func (in *insert) buildMerge() {
	in.text("MERGE INTO ")
	in.quoted(clause.Table{Name: clause.CurrentTable})
	if in.upsert != nil {
		in.text(" WITH (HOLDLOCK)")
	}
	in.text(" USING (VALUES ")
	in.rows()
	in.text(") AS " + excluded + " (")
	columns := slices.Clone(in.values.Columns)
	if in.numbered() {
		columns = append(columns, clause.Column{Name: rowColumn})
	}
	in.each(len(columns), ",", func(i int) { in.quoted(columns[i]) })
	in.text(") ON ")
	in.match()
	in.text(" WHEN NOT MATCHED THEN INSERT ")
	if len(in.values.Columns) == 0 {
		in.text("DEFAULT VALUES")
	} else {
		in.columns("")
		in.text(" VALUES ")
		in.columns(excluded)
	}
	if len(in.returned) > 0 {
		in.text(" ")
		in.output()
	}
}

// match writes the condition for existing rows and their update.
func (in *insert) match() {
	u := in.upsert
	if u == nil {
		in.text("1 = 0")
		return
	}
	in.each(len(u.targets), " OR ", func(i int) {
		in.each(len(u.targets[i]), " AND ", func(j int) {
			in.quoted(clause.Column{Table: clause.CurrentTable, Name: u.targets[i][j]})
			in.text(" = ")
			in.quoted(clause.Column{Table: excluded, Name: u.targets[i][j]})
		})
	})
	if u.DoNothing || len(u.DoUpdates) == 0 {
		return
	}
	in.text(" WHEN MATCHED ")
	if len(u.Where.Exprs) > 0 {
		in.text("AND (")
		u.Where.Build(in.db.Statement)
		in.text(") ")
	}
	in.text("THEN UPDATE SET ")
	binarySet(in.db.Statement.Schema, u.DoUpdates).Build(in.db.Statement)
}
