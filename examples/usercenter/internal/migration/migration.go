// Package migration contains schema changes that entities cannot express, one SQL file
// each. Never change a file that was applied; add a new file instead.
package migration

import "embed"

// Files contains the migrations, sorted by name.
//
//go:embed *.sql
var Files embed.FS
