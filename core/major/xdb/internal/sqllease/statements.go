package sqllease

import (
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// statements are the statements of leases, with the names of one database. Times are compared, and the new ones made, in the
// statement: what was read before only says whether a row has changed since.
type statements struct {
	table                              string // for people
	look, take, insert, renew, release string
	ended                              string // the condition of sweep
	sweep                              string
}

// newStatements writes the statements.
func newStatements(db *gorm.DB, clock driver.Clock) statements {
	stmt := &gorm.Statement{DB: db}
	_ = stmt.Parse(&tableRow{}) // it can be parsed
	now := clock.NowMicros()
	names := []string{"{now}", now, "{dual}", clock.Dual(), "{table}", stmt.Quote(stmt.Schema.Table)}
	for _, field := range stmt.Schema.DBNames {
		names = append(names, "{"+field+"}", stmt.Quote(field))
	}
	write := strings.NewReplacer(names...).Replace
	s := statements{table: stmt.Schema.Table} // stmt.Table is without the schema of a prefix
	// A row with the time comes back also where there is no other.
	s.look = write("SELECT c.now_us, l.{id}, l.{slot}, l.{slots}, l.{holder}, l.{token}, l.{mark}, l.{since_us}, l.{until_us} " +
		"FROM (SELECT {now} AS now_us{dual}) c LEFT JOIN {table} l ON l.{id} = ? AND l.{slot} >= ? AND l.{slot} < ?")
	s.take = write("UPDATE {table} SET {slots} = ?, {holder} = ?, {token} = ?, {mark} = ?, {until_us} = {now} + ? " +
		"WHERE {id} = ? AND {slot} = ? AND {token} = ? AND {mark} = ? AND {until_us} <= {now}")
	s.insert = write("INSERT INTO {table} ({id}, {slot}, {name}, {slots}, {holder}, {token}, {mark}, {since_us}, {until_us}) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, {now}, {now} + ?)")
	s.renew = write("UPDATE {table} SET {until_us} = {now} + ?, {mark} = CASE WHEN {mark} < ? THEN ? ELSE {mark} END " +
		"WHERE {id} = ? AND {slot} = ? AND {holder} = ?")
	s.release = write("UPDATE {table} SET {holder} = ?, {until_us} = {now}, {mark} = ? WHERE {id} = ? AND {slot} = ? AND {holder} = ?")
	s.ended = write("{slots} = 1 AND {slot} = 0 AND {until_us} < {now} - ?")
	s.sweep = write("DELETE FROM {table} WHERE {id} IN ? AND ") + s.ended
	return s
}
