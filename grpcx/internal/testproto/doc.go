// Package testproto contains the service and the messages that the tests of this module
// share. Only tests import it.
package testproto
