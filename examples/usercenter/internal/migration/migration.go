// Package migration holds the changes of the schema that entities cannot express, one SQL
// file each. Applied files never change: a new one mends what an old one did.
package migration

import "embed"

// Files are the migrations, in the order of their names.
//
//go:embed *.sql
var Files embed.FS
