package migrate

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// prefixMark is replaced by the table prefix.
const prefixMark = "${prefix}"

// statement runs one statement of the file.
func (r *run) statement(tx *gorm.DB, i int) error {
	naming, _ := namingOf(r.db)
	prefix := naming.TablePrefix
	err := execute(tx, strings.ReplaceAll(r.Statements[i].SQL, prefixMark, prefix))
	if err == nil {
		return nil
	}
	err = withoutValues(err, r.Statements, prefix, r.db.Name())
	return r.failed(fmt.Sprintf(":%d", r.Line(i)), err)
}

// execute runs a statement without preparing it: some databases cannot prepare changes of
// the schema.
func execute(tx *gorm.DB, sql string) error {
	tx = tx.Session(&gorm.Session{NewDB: true}).Scopes() // a statement whose pool may be changed
	switch pool := tx.Statement.ConnPool.(type) {
	case *gorm.PreparedStmtDB:
		tx.Statement.ConnPool = pool.ConnPool
	case *gorm.PreparedStmtTX:
		tx.Statement.ConnPool = pool.Tx
	}
	return tx.Exec(sql).Error
}
