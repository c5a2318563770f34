// Package core is the root of Plinth's base module. It contains no code.
//
// The packages of the module form three layers. Each layer imports only the layers above
// it in this list:
//
//	defined   names; imports only the standard library
//	common    envelope, errors, logs, IDs, utilities, validation; imports no gin or gorm
//	major     the framework, with gin and gorm; imports no driver or client of a server
//
// Plugins and extensions are separate modules that import core. layers_test.go enforces
// the layers.
package core
