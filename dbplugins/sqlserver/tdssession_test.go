package sqlserver_test

import (
	"encoding/binary"
	"io"
	"net"
)

// tdsSession is one connection.
type tdsSession struct {
	server     *tdsServer
	conn       net.Conn
	transport  io.ReadWriter // conn, or TLS over it
	encryption byte
	inTx       bool
}

// serve serves the client until the connection is closed.
func (s *tdsSession) serve() {
	s.transport = s.conn
	if s.server.options.Silent {
		_, _ = io.Copy(io.Discard, s.conn)
		return
	}
	if s.prelogin() != nil || !s.login() {
		return
	}
	for {
		kind, body, err := tdsReadMessage(s.transport)
		if err != nil || !s.message(kind, body) {
			return
		}
	}
}

// message responds to one message. It returns false if the connection must be closed.
func (s *tdsSession) message(kind byte, body []byte) bool {
	switch kind {
	case tdsPacketBatch, tdsPacketRPC:
		r, err := tdsParseStatement(kind, body)
		return err == nil && s.statement(r)
	case tdsPacketTransaction:
		return s.transaction(body)
	case tdsPacketAttention: // for a finished statement
		s.server.record(tdsRequest{Kind: tdsAttention})
		return s.reply(tdsDone(tdsTokenDone, tdsDoneAttention, 0)) == nil
	default:
		return false
	}
}

// statement sends the response of the test to a statement.
func (s *tdsSession) statement(r tdsRequest) bool {
	r.InTransaction = s.inTx
	s.server.record(r)
	var reply tdsReply
	if respond := s.server.options.Respond; respond != nil {
		reply = respond(r)
	}
	switch {
	case reply.Cut:
		return false
	case reply.Broken: // the response is incomplete
		_ = s.reply([]byte{tdsTokenColumns, 1, 0, 0, 0})
		return false
	case reply.Silent:
		_, _ = io.Copy(io.Discard, s.transport)
		return false
	case reply.Hang:
		return s.hang()
	}
	if reply.Rollback {
		s.inTx = false
	}
	return s.reply(reply.tokens(r.Kind)) == nil
}

// hang waits until the client cancels.
func (s *tdsSession) hang() bool {
	for {
		kind, _, err := tdsReadMessage(s.transport)
		if err != nil {
			return false
		}
		if kind == tdsPacketAttention {
			s.server.record(tdsRequest{Kind: tdsAttention})
			return s.reply(tdsDone(tdsTokenDone, tdsDoneAttention, 0)) == nil
		}
	}
}

// Transaction manager requests, 2.2.6.9, and the session changes in the responses.
var tdsTransactions = map[uint16]struct {
	kind   tdsKind
	change byte
}{
	5: {tdsBegin, tdsEnvBegin},
	7: {tdsCommit, tdsEnvCommit},
	8: {tdsRollback, tdsEnvRollback},
}

func (s *tdsSession) transaction(body []byte) bool {
	r := &tdsReader{data: body}
	r.headers()
	t, known := tdsTransactions[r.uint16()]
	if !known || r.err != nil {
		return false
	}
	request := tdsRequest{Kind: t.kind, InTransaction: s.inTx}
	if t.kind == tdsBegin {
		request.Level = r.byte()
	}
	s.server.record(request)
	if wait := s.server.options.Transaction; wait != nil {
		wait(t.kind)
	}
	s.inTx = t.kind == tdsBegin
	id := append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 7)...)
	values := append([]byte{0}, id...) // no new ID, the old ID
	if s.inTx {
		values = append(id, 0)
	}
	return s.reply(append(tdsChange(t.change, values), tdsDone(tdsTokenDone, 0, 0)...)) == nil
}

func (s *tdsSession) reply(tokens []byte) error {
	return tdsWriteMessage(s.transport, tdsPacketReply, tokens)
}
