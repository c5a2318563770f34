// Package xerror defines error codes, errors with a code, and the mapping of other errors
// to codes.
//
// An [ErrorCode] is the contract between client and server: a number, a label, and a
// message in English and in Chinese. An [Error] has a code, an optional developer message
// and data for the client, and a cause that clients never receive. [From] converts any
// error to an Error. An Error can be encoded as a response envelope (package [xbase]), as
// RFC 9457 problem details, or with the codes of the Java library.
//
// Everything is safe for concurrent use.
//
// [xbase]: https://pkg.go.dev/github.com/plinthgo/plinth/core/common/xbase
package xerror
