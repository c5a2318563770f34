// Package testproto holds the service and the messages that the tests of this module
// share. No program links it.
package testproto
