// Package core documents the base of Plinth. It contains no code.
//
// The packages form three layers. Each layer imports only the layers before it:
//
//	defined   names; the standard library only
//	common    envelope, errors, logs, ids, utilities, validation; neither the web engine nor the ORM
//	major     the framework over gin and gorm; no driver, no client of a server
//
// Plugins and extensions are separate modules that import core. layers_test.go enforces
// the layers.
package core
