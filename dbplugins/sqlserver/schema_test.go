package sqlserver_test

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// sheet has a column of each type that catalog supports.
type sheet struct {
	xmodels.BaseEntity
	At    time.Time `gorm:"not null"`
	Fine  time.Time `gorm:"precision:3"`
	Body  *string   `gorm:"size:2097152"`
	Price float64   `gorm:"precision:20;scale:4"`
	Money string    `gorm:"type:decimal(20,4);not null"`
	Yes   bool
	Data  []byte
}

// catalog responds like the documented INFORMATION_SCHEMA of SQL Server about the created
// tables.
type catalog struct {
	mu     sync.Mutex
	tables map[string]string // the CREATE TABLE statements
}

var (
	created = regexp.MustCompile(`^CREATE TABLE "(\w+)"`)
	columns = regexp.MustCompile(
		`"(\w+)" (bigint|nvarchar|datetimeoffset|decimal|bit|varbinary)(\((\w+)(?:,(\d+))?\))?( IDENTITY\(1,1\))?( NOT NULL)?`)
	selected = regexp.MustCompile(`^SELECT \* FROM "(\w+)"`)
)

func (c *catalog) respond(r tdsRequest) (tdsReply, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := created.FindStringSubmatch(r.SQL); m != nil {
		c.tables[m[1]] = r.SQL
		return tdsReply{}, true
	}
	if len(c.tables) == 0 || r.Kind != tdsRPC {
		return tdsReply{}, false
	}
	if m := selected.FindStringSubmatch(r.SQL); m != nil {
		return tdsReply{Columns: c.shape(m[1])}, true
	}
	table := ""
	for _, p := range r.Params {
		if name, ok := p.Value.(string); ok && c.tables[name] != "" {
			table = name
		}
	}
	switch {
	case table == "":
		return tdsReply{}, false
	case strings.Contains(r.SQL, "IS_NULLABLE"):
		return c.describe(table), true
	default:
		// the table exists
		return numberReply(1), strings.Contains(strings.ToLower(r.SQL), "select count(*)")
	}
}

// shape returns the columns of a table.
func (c *catalog) shape(table string) (shape []tdsColumn) {
	types := map[string]func(string) tdsColumn{
		"bigint": tdsBigInt, "nvarchar": tdsNVarChar, "datetimeoffset": tdsDateTimeOffset,
		"decimal": tdsDecimal, "bit": tdsBit, "varbinary": tdsVarBinary,
	}
	for _, m := range columns.FindAllStringSubmatch(c.tables[table], -1) {
		shape = append(shape, types[m[2]](m[1]))
	}
	return shape
}

// describe returns a row per column.
func (c *catalog) describe(table string) tdsReply {
	reply := tdsReply{Columns: []tdsColumn{
		tdsNVarChar("COLUMN_NAME"), tdsNVarChar("DATA_TYPE"), tdsNVarChar("COLUMN_DEFAULT"),
		tdsNVarChar("IS_NULLABLE"), tdsBigInt("CHARACTER_MAXIMUM_LENGTH"),
		tdsBigInt("NUMERIC_PRECISION"), tdsBigInt("NUMERIC_PRECISION_RADIX"),
		tdsBigInt("NUMERIC_SCALE"), tdsBigInt("DATETIME_PRECISION"), tdsBit("AUTO_INCREMENT"),
	}}
	for _, m := range columns.FindAllStringSubmatch(c.tables[table], -1) {
		var length, precision, radix, scale, fraction any
		size, err := strconv.ParseInt(m[4], 10, 64)
		if err != nil {
			size = -1 // max
		}
		switch m[2] {
		case "bigint":
			precision, radix, scale = int64(19), int64(10), int64(0)
		case "decimal":
			digits, _ := strconv.ParseInt(m[5], 10, 64)
			precision, radix, scale = size, int64(10), digits
		case "nvarchar", "varbinary":
			length = size
		case "datetimeoffset":
			fraction = size
		}
		nullable := "YES"
		if m[7] != "" || m[1] == "id" {
			nullable = "NO"
		}
		reply.Rows = append(reply.Rows, []any{
			m[1], m[2], nil, nullable, length, precision, radix, scale, fraction, m[6] != "",
		})
	}
	return reply
}

func TestMigrator_AutoMigrate(t *testing.T) {
	c := &catalog{tables: map[string]string{}}
	s := startDouble(t, c.respond)
	entities := []any{&author{}, &book{}, &note{}, &account{}, &counter{}, &sheet{}}
	db, _ := open(t, s, xdb.Options{AutoMigrate: entities})
	if len(c.tables) != len(entities) {
		t.Fatalf("tables = %d, want %d", len(c.tables), len(entities))
	}
	s.Reset()
	if err := db.AutoMigrate(entities...); err != nil {
		t.Fatal(err)
	}
	described := 0
	for _, r := range requests(s) {
		if strings.HasPrefix(r.SQL, "SELECT COLUMN_NAME, DATA_TYPE") {
			described++
		}
		if verb := strings.Fields(r.SQL)[0]; verb != "SELECT" {
			t.Errorf("%s was sent", r.SQL)
		}
	}
	if described != len(entities) {
		t.Errorf("described tables = %d, want %d", described, len(entities))
	}
	type wider struct { // a newer version of note
		xmodels.BaseEntityWithSoftDelete
		Text   string  `gorm:"size:300;not null"`
		Colour *string `gorm:"size:20"`
	}
	s.Reset()
	if err := db.Table("notes").AutoMigrate(&wider{}); err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, r := range requests(s) {
		if strings.HasPrefix(r.SQL, "ALTER") {
			changes = append(changes, r.SQL)
		}
	}
	want := `ALTER TABLE "notes" ALTER COLUMN "text" nvarchar(300) NOT NULL; ALTER TABLE "notes" ADD "colour" nvarchar(20)`
	if got := strings.Join(changes, "; "); got != want {
		t.Errorf("changes = %s, want %s", got, want)
	}
}
