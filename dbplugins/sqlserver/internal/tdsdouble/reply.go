package tdsdouble

import (
	"encoding/binary"
	"unicode/utf16"
)

// Reply is what a statement is answered with.
type Reply struct {
	Columns  []Column
	Rows     [][]any // as many values as columns, nil for NULL
	Affected uint64  // rows, where there are no Columns
	Errors   []Error
	Rollback bool // the server has ended the transaction

	Hang   bool // no answer until the client gives up
	Deaf   bool // nor then
	Cut    bool // the connection ends instead
	Broken bool // it ends in the middle of the answer
}

// Error is an error of the server.
type Error struct {
	Number  int32
	Class   byte // severity; 0 is 14
	Message string
}

// Fail is a reply with one error.
func Fail(number int32, message string) Reply {
	return Reply{Errors: []Error{{Number: number, Message: message}}}
}

// The tokens of an answer, 2.2.4, and what stands in DONE.
const (
	tokenReturnStatus = 0x79
	tokenColumns      = 0x81
	tokenError        = 0xaa
	tokenLoginAck     = 0xad
	tokenRow          = 0xd1
	tokenChange       = 0xe3
	tokenDone         = 0xfd
	tokenDoneProc     = 0xfe
	tokenDoneInProc   = 0xff

	doneMore      = 0x01
	doneError     = 0x02
	doneCount     = 0x10
	doneAttention = 0x20
)

// The changes of the session that a server tells of, 2.2.7.9.
const (
	envDatabase   = 1
	envPacketSize = 4
	envBegin      = 8
	envCommit     = 9
	envRollback   = 10
)

// tokens writes the answer. One to a remote procedure call has a status, and its statements end within it.
func (a Reply) tokens(kind Kind) []byte {
	var out []byte
	if a.Rollback {
		out = change(envRollback, append([]byte{0}, append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 7)...)...))
	}
	status, affected := uint16(doneCount), a.Affected
	if a.Columns != nil {
		affected = uint64(len(a.Rows))
		out = append(out, columnTokens(a.Columns)...)
		for _, row := range a.Rows {
			out = append(out, tokenRow)
			for i, value := range row {
				out = append(out, a.Columns[i].encode(value)...)
			}
		}
	}
	if len(a.Errors) > 0 {
		out, status, affected = append(out, errorTokens(a.Errors)...), doneError, 0
	}
	if kind != RPC {
		return append(out, done(tokenDone, status, affected)...)
	}
	out = append(out, done(tokenDoneInProc, status|doneMore, affected)...)
	out = append(out, tokenReturnStatus, 0, 0, 0, 0)
	return append(out, done(tokenDoneProc, status&doneError, 0)...)
}

func done(token byte, status uint16, affected uint64) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{token}, status)
	return binary.LittleEndian.AppendUint64(append(out, 0, 0), affected)
}

func errorTokens(errs []Error) []byte {
	var out []byte
	for _, e := range errs {
		body := binary.LittleEndian.AppendUint32(nil, uint32(e.Number)) //nolint:gosec // its bits
		class := e.Class
		if class == 0 {
			class = 14
		}
		body = append(body, 1, class)
		body = append(binary.LittleEndian.AppendUint16(body, units(e.Message)), toUTF16(e.Message)...)
		body = append(body, shortText("double")...)
		body = append(body, shortText("")...)
		body = append(body, 1, 0, 0, 0) // line
		out = append(out, sized(tokenError, body)...)
	}
	return out
}

// acknowledgement lets a client in.
func acknowledgement(l Login) []byte {
	out := change(envDatabase, append(shortText(l.Database), shortText("master")...))
	ack := append([]byte{1, 0x74, 0, 0, 4}, shortText("Microsoft SQL Server")...)
	out = append(out, sized(tokenLoginAck, append(ack, 16, 0, 0, 0))...)
	out = append(out, change(envPacketSize, append(shortText("4096"), shortText("4096")...))...)
	return append(out, done(tokenDone, 0, 0)...)
}

func change(kind byte, values []byte) []byte {
	return sized(tokenChange, append([]byte{kind}, values...))
}

// sized is a token with its length before its body.
func sized(token byte, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{token}, uint16(len(body))), body...) //nolint:gosec // short
}

func shortText(s string) []byte {
	return append([]byte{byte(units(s))}, toUTF16(s)...) //nolint:gosec // short
}

func units(s string) uint16 { return uint16(len(utf16.Encode([]rune(s)))) } //nolint:gosec // short
