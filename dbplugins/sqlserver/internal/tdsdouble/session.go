package tdsdouble

import (
	"encoding/binary"
	"io"
	"net"
)

// session is one connection.
type session struct {
	server     *Server
	conn       net.Conn
	transport  io.ReadWriter // conn, or TLS over it
	encryption byte
	inTx       bool
}

// serve talks to the client until one of them ends it.
func (s *session) serve() {
	s.transport = s.conn
	if s.server.options.Silent {
		_, _ = io.Copy(io.Discard, s.conn)
		return
	}
	if s.prelogin() != nil || !s.login() {
		return
	}
	for {
		kind, body, err := readMessage(s.transport)
		if err != nil || !s.message(kind, body) {
			return
		}
	}
}

// message answers one message; false: the connection ends.
func (s *session) message(kind byte, body []byte) bool {
	switch kind {
	case packetBatch, packetRPC:
		r, err := parseStatement(kind, body)
		return err == nil && s.statement(r)
	case packetTransaction:
		return s.transaction(body)
	case packetAttention: // to a statement that was over already
		s.server.note(Request{Kind: Attention})
		return s.reply(done(tokenDone, doneAttention, 0)) == nil
	default:
		return false
	}
}

// statement answers as the test wants it.
func (s *session) statement(r Request) bool {
	r.InTransaction = s.inTx
	s.server.note(r)
	var answer Reply
	if ask := s.server.options.Answer; ask != nil {
		answer = ask(r)
	}
	switch {
	case answer.Cut:
		return false
	case answer.Broken: // a row begins, and nothing follows
		_ = s.reply([]byte{tokenColumns, 1, 0, 0, 0})
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
func (s *session) hang() bool {
	for {
		kind, _, err := readMessage(s.transport)
		if err != nil {
			return false
		}
		if kind == packetAttention {
			s.server.note(Request{Kind: Attention})
			return s.reply(done(tokenDone, doneAttention, 0)) == nil
		}
	}
}

// The requests of the transaction manager, 2.2.6.9, and the changes that answer them.
var transactions = map[uint16]struct {
	kind   Kind
	change byte
}{
	5: {Begin, envBegin},
	7: {Commit, envCommit},
	8: {Rollback, envRollback},
}

func (s *session) transaction(body []byte) bool {
	r := &reader{data: body}
	r.headers()
	t, known := transactions[r.uint16()]
	if !known || r.err != nil {
		return false
	}
	asked := Request{Kind: t.kind, InTransaction: s.inTx}
	if t.kind == Begin {
		asked.Level = r.byte()
	}
	s.server.note(asked)
	if wait := s.server.options.Transaction; wait != nil {
		wait(t.kind)
	}
	s.inTx = t.kind == Begin
	id := append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 7)...)
	values := append([]byte{0}, id...) // no new one, the old one
	if s.inTx {
		values = append(id, 0)
	}
	return s.reply(append(change(t.change, values), done(tokenDone, 0, 0)...)) == nil
}

func (s *session) reply(tokens []byte) error { return writeMessage(s.transport, packetReply, tokens) }
