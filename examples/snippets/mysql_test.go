package snippets_test

import _ "github.com/plinthgo/plinth/dbplugins/mysql"

// voucher has a column that compares exactly.
type voucher struct {
	Code string `gorm:"type:varchar(20) COLLATE utf8mb4_bin;uniqueIndex"`
}

var _ = voucher{}
