package sqlite

import (
	"strings"

	"gorm.io/gorm/clause"
)

// QuoteTo implements gorm.Dialector. The library looks at each byte and writes it by
// itself; a name without a dot or a quote, as nearly every one is, needs no look.
func (d *dialector) QuoteTo(w clause.Writer, name string) {
	if name == "" || strings.ContainsAny(name, ".`") {
		d.Dialector.QuoteTo(w, name)
		return
	}
	_ = w.WriteByte('`')
	_, _ = w.WriteString(name)
	_ = w.WriteByte('`')
}
