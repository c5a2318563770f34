package sqlserver_test

import (
	"encoding/binary"
	"unicode/utf16"
)

// tdsReply is the response to a statement.
type tdsReply struct {
	Columns  []tdsColumn
	Rows     [][]any // one value per column, nil for NULL
	Affected uint64  // affected rows if there are no Columns
	Errors   []tdsError
	Rollback bool // the server rolled the transaction back

	Hang   bool // respond only to a cancellation
	Silent bool // never respond
	Cut    bool // close the connection instead
	Broken bool // close the connection within the response
}

// tdsError is a server error.
type tdsError struct {
	Number  int32
	Class   byte // severity; 0 means 14
	Message string
}

// tdsFail returns a reply with one error.
func tdsFail(number int32, message string) tdsReply {
	return tdsReply{Errors: []tdsError{{Number: number, Message: message}}}
}

// Response tokens, 2.2.4, and the status bits of DONE.
const (
	tdsTokenReturnStatus = 0x79
	tdsTokenColumns      = 0x81
	tdsTokenError        = 0xaa
	tdsTokenLoginAck     = 0xad
	tdsTokenRow          = 0xd1
	tdsTokenChange       = 0xe3
	tdsTokenDone         = 0xfd
	tdsTokenDoneProc     = 0xfe
	tdsTokenDoneInProc   = 0xff

	tdsDoneMore      = 0x01
	tdsDoneError     = 0x02
	tdsDoneCount     = 0x10
	tdsDoneAttention = 0x20
)

// Session changes that a server reports, 2.2.7.9.
const (
	tdsEnvDatabase   = 1
	tdsEnvPacketSize = 4
	tdsEnvBegin      = 8
	tdsEnvCommit     = 9
	tdsEnvRollback   = 10
)

// tokens encodes the response. The response to a remote procedure call has a status and
// uses DONEINPROC.
func (a tdsReply) tokens(kind tdsKind) []byte {
	var out []byte
	if a.Rollback {
		out = tdsChange(tdsEnvRollback,
			append([]byte{0}, append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 7)...)...))
	}
	status, affected := uint16(tdsDoneCount), a.Affected
	if a.Columns != nil {
		affected = uint64(len(a.Rows))
		out = append(out, tdsColumnTokens(a.Columns)...)
		for _, row := range a.Rows {
			out = append(out, tdsTokenRow)
			for i, value := range row {
				out = append(out, a.Columns[i].encode(value)...)
			}
		}
	}
	if len(a.Errors) > 0 {
		out, status, affected = append(out, tdsErrorTokens(a.Errors)...), tdsDoneError, 0
	}
	if kind != tdsRPC {
		return append(out, tdsDone(tdsTokenDone, status, affected)...)
	}
	out = append(out, tdsDone(tdsTokenDoneInProc, status|tdsDoneMore, affected)...)
	out = append(out, tdsTokenReturnStatus, 0, 0, 0, 0)
	return append(out, tdsDone(tdsTokenDoneProc, status&tdsDoneError, 0)...)
}

func tdsDone(token byte, status uint16, affected uint64) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{token}, status)
	return binary.LittleEndian.AppendUint64(append(out, 0, 0), affected)
}

func tdsErrorTokens(errs []tdsError) []byte {
	var out []byte
	for _, e := range errs {
		body := binary.LittleEndian.AppendUint32(nil, uint32(e.Number))
		class := e.Class
		if class == 0 {
			class = 14
		}
		body = append(body, 1, class)
		body = append(binary.LittleEndian.AppendUint16(body, tdsUnits(e.Message)),
			tdsToUTF16(e.Message)...)
		body = append(body, tdsShortText("double")...)
		body = append(body, tdsShortText("")...)
		body = append(body, 1, 0, 0, 0) // line
		out = append(out, tdsSized(tdsTokenError, body)...)
	}
	return out
}

// tdsAcknowledgement accepts a login.
func tdsAcknowledgement(l tdsLogin) []byte {
	out := tdsChange(tdsEnvDatabase, append(tdsShortText(l.Database), tdsShortText("master")...))
	ack := append([]byte{1, 0x74, 0, 0, 4}, tdsShortText("Microsoft SQL Server")...)
	out = append(out, tdsSized(tdsTokenLoginAck, append(ack, 16, 0, 0, 0))...)
	out = append(out, tdsChange(tdsEnvPacketSize,
		append(tdsShortText("4096"), tdsShortText("4096")...))...)
	return append(out, tdsDone(tdsTokenDone, 0, 0)...)
}

func tdsChange(kind byte, values []byte) []byte {
	return tdsSized(tdsTokenChange, append([]byte{kind}, values...))
}

// tdsSized encodes a token with its length before its body.
func tdsSized(token byte, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{token}, uint16(len(body))), body...)
}

// tdsShortText encodes a string with a one-byte length.
func tdsShortText(s string) []byte {
	return append([]byte{byte(tdsUnits(s))}, tdsToUTF16(s)...)
}

// tdsUnits returns the length of a short string in UTF-16 units.
func tdsUnits(s string) uint16 { return uint16(len(utf16.Encode([]rune(s)))) }
