// Package core documents the slim base of Plinth. It holds no code.
//
// Three layers, each of which imports only the ones before it:
//
//	defined   names; the standard library only
//	common    envelope, errors, logs, ids, utilities, validation; neither the web engine nor the ORM
//	major     the framework over gin and gorm; no driver, no client of a server
//
// Plugins and extensions are modules of their own that import core. layers_test.go holds
// the layers and fails on a breach, and on a folder without a layer.
package core
