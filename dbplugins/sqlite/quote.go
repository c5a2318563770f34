package sqlite

import (
	"strings"

	"gorm.io/gorm/clause"
)

// QuoteTo implements gorm.Dialector. The library writes byte by byte, which is only
// necessary for a name with a dot or a quote.
func (d *dialector) QuoteTo(w clause.Writer, name string) {
	if name == "" || strings.ContainsAny(name, ".`") {
		d.Dialector.QuoteTo(w, name)
		return
	}
	_ = w.WriteByte('`')
	_, _ = w.WriteString(name)
	_ = w.WriteByte('`')
}
