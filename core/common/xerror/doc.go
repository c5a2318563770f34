// Package xerror is how a service fails: error codes, an error that carries one, and the
// mapping of errors from elsewhere.
//
// An [ErrorCode] is what client and server agree on: a number, a label, a message in
// English and in Chinese. An [Error] is one failure: a code, what the developer adds for
// the client, data, and a cause that never leaves the process. [From] makes one of any
// error. The same Error is written as the envelope of [xbase], as RFC 9457 problem
// details, or with the codes of the Java library.
//
// Everything is safe for concurrent use.
//
// [xbase]: https://pkg.go.dev/github.com/plinthgo/plinth/core/common/xbase
package xerror
