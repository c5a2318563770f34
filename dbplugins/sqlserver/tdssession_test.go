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

// serve talks to the client until one of them ends it.
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

// message answers one message; false: the connection ends.
func (s *tdsSession) message(kind byte, body []byte) bool {
	switch kind {
	case tdsPacketBatch, tdsPacketRPC:
		r, err := tdsParseStatement(kind, body)
		return err == nil && s.statement(r)
	case tdsPacketTransaction:
		return s.transaction(body)
	case tdsPacketAttention: // to a statement that was over already
		s.server.note(tdsRequest{Kind: tdsAttention})
		return s.reply(tdsDone(tdsTokenDone, tdsDoneAttention, 0)) == nil
	default:
		return false
	}
}

// statement answers as the test wants it.
func (s *tdsSession) statement(r tdsRequest) bool {
	r.InTransaction = s.inTx
	s.server.note(r)
	var answer tdsReply
	if ask := s.server.options.Answer; ask != nil {
		answer = ask(r)
	}
	switch {
	case answer.Cut:
		return false
	case answer.Broken: // a row begins, and nothing follows
		_ = s.reply([]byte{tdsTokenColumns, 1, 0, 0, 0})
		return false
	case answer.Deaf:
		_, _ = io.Copy(io.Discard, s.transport)
		return false
	case answer.Hang:
		return s.hang()
	}
	if answer.Rollback {
		s.inTx = false
	}
	return s.reply(answer.tokens(r.Kind)) == nil
}

// hang waits until the client gives up.
func (s *tdsSession) hang() bool {
	for {
		kind, _, err := tdsReadMessage(s.transport)
		if err != nil {
			return false
		}
		if kind == tdsPacketAttention {
			s.server.note(tdsRequest{Kind: tdsAttention})
			return s.reply(tdsDone(tdsTokenDone, tdsDoneAttention, 0)) == nil
		}
	}
}

// The requests of the transaction manager, 2.2.6.9, and the changes that answer them.
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
	asked := tdsRequest{Kind: t.kind, InTransaction: s.inTx}
	if t.kind == tdsBegin {
		asked.Level = r.byte()
	}
	s.server.note(asked)
	if wait := s.server.options.Transaction; wait != nil {
		wait(t.kind)
	}
	s.inTx = t.kind == tdsBegin
	id := append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 7)...)
	values := append([]byte{0}, id...) // no new one, the old one
	if s.inTx {
		values = append(id, 0)
	}
	return s.reply(append(tdsChange(t.change, values), tdsDone(tdsTokenDone, 0, 0)...)) == nil
}

func (s *tdsSession) reply(tokens []byte) error {
	return tdsWriteMessage(s.transport, tdsPacketReply, tokens)
}
