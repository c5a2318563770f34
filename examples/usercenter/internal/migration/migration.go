// Package migration contains schema changes that entities cannot express, one SQL file
// for each. Applied files never change: a new file corrects an old one.
package migration

import "embed"

// Files contains the migrations, sorted by name.
//
//go:embed *.sql
var Files embed.FS
