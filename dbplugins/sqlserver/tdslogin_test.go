package sqlserver_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"time"
)

// tdsLogin is the login of a client.
type tdsLogin struct {
	User, Password, Database, App string
	// Encrypted reports whether the login was encrypted, Session whether the rest of the
	// session is.
	Encrypted, Session bool
}

// Responses to the requested encryption, 2.2.6.5.
const (
	tdsEncryptOff    = 0 // only the login
	tdsEncryptOn     = 1
	tdsEncryptNotSup = 2
	tdsEncryptReq    = 3
)

// prelogin negotiates and starts encryption.
func (s *tdsSession) prelogin() error {
	kind, body, err := tdsReadMessage(s.conn)
	if err != nil {
		return err
	}
	if kind != tdsPacketPrelogin {
		return errors.New("want a PRELOGIN")
	}
	s.encryption = s.server.options.negotiate(tdsRequestedEncryption(body))
	// VERSION at 11, ENCRYPTION at 17
	reply := []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, s.encryption}
	if err := tdsWriteMessage(s.conn, tdsPacketReply, reply); err != nil ||
		s.encryption == tdsEncryptNotSup {
		return err
	}
	wrapped := &tdsHandshake{Conn: s.conn}
	secure := tls.Server(wrapped, s.server.options.TLS)
	if err := secure.HandshakeContext(context.Background()); err != nil {
		return err
	}
	if err := wrapped.end(); err != nil {
		return err
	}
	s.transport = secure
	return nil
}

// tdsRequestedEncryption returns the encryption that a client requests.
func tdsRequestedEncryption(body []byte) byte {
	for at := 0; at+5 <= len(body) && body[at] != 0xff; at += 5 {
		offset := int(binary.BigEndian.Uint16(body[at+1:]))
		if body[at] == 1 && offset < len(body) {
			return body[offset]
		}
	}
	return tdsEncryptNotSup
}

// negotiate returns the encryption of a session.
func (o tdsOptions) negotiate(requested byte) byte {
	switch {
	case o.TLS == nil:
		return tdsEncryptNotSup
	case o.Force:
		return tdsEncryptReq
	default:
		return requested
	}
}

// login reads the login and responds. It returns false if the login is rejected.
func (s *tdsSession) login() bool {
	kind, body, err := tdsReadMessage(s.transport)
	if err != nil || kind != tdsPacketLogin7 {
		return false
	}
	l, err := tdsParseLogin(body)
	if err != nil {
		return false
	}
	l.Encrypted = s.encryption != tdsEncryptNotSup
	l.Session = s.encryption == tdsEncryptOn || s.encryption == tdsEncryptReq
	if !l.Session {
		s.transport = s.conn
	}
	s.server.recordLogin(l)
	if check := s.server.options.Login; check != nil {
		if errs := check(l); len(errs) > 0 {
			_ = s.reply(append(tdsErrorTokens(errs), tdsDone(tdsTokenDone, tdsDoneError, 0)...))
			return false
		}
	}
	return s.reply(tdsAcknowledgement(l)) == nil
}

// tdsParseLogin parses LOGIN7, 2.2.6.4: offsets in bytes, lengths in UTF-16 units.
func tdsParseLogin(body []byte) (tdsLogin, error) {
	field := func(at int) []byte {
		if at+4 > len(body) {
			return nil
		}
		offset := int(binary.LittleEndian.Uint16(body[at:]))
		units := int(binary.LittleEndian.Uint16(body[at+2:]))
		if offset+2*units > len(body) {
			return nil
		}
		return body[offset : offset+2*units]
	}
	if len(body) < 94 || int(binary.LittleEndian.Uint32(body)) != len(body) {
		return tdsLogin{}, errShort
	}
	password := append([]byte(nil), field(44)...)
	for i, b := range password {
		b ^= 0xa5
		password[i] = b<<4 | b>>4
	}
	return tdsLogin{
		User: tdsFromUTF16(field(40)), Password: tdsFromUTF16(password),
		App: tdsFromUTF16(field(48)), Database: tdsFromUTF16(field(68)),
	}, nil
}

// tdsHandshake transports the messages of a TLS handshake in TDS packets. After the
// handshake it is the plain connection.
type tdsHandshake struct {
	net.Conn

	in, out []byte
	done    bool
}

// Read implements net.Conn.
func (h *tdsHandshake) Read(p []byte) (int, error) {
	if h.done {
		return h.Conn.Read(p)
	}
	if err := h.flush(); err != nil {
		return 0, err
	}
	for len(h.in) == 0 {
		kind, body, err := tdsReadMessage(h.Conn)
		if err != nil {
			return 0, err
		}
		if kind != tdsPacketPrelogin {
			return 0, errors.New("want a handshake in PRELOGIN packets")
		}
		h.in = body
	}
	n := copy(p, h.in)
	h.in = h.in[n:]
	return n, nil
}

// Write implements net.Conn. The client expects each handshake flight in one message.
func (h *tdsHandshake) Write(p []byte) (int, error) {
	if h.done {
		return h.Conn.Write(p)
	}
	h.out = append(h.out, p...)
	return len(p), nil
}

func (h *tdsHandshake) flush() error {
	if len(h.out) == 0 {
		return nil
	}
	out := h.out
	h.out = nil
	return tdsWriteMessage(h.Conn, tdsPacketPrelogin, out)
}

func (h *tdsHandshake) end() error {
	err := h.flush()
	h.done = true
	return err
}

// SetDeadline implements net.Conn. It does nothing.
func (h *tdsHandshake) SetDeadline(time.Time) error { return nil }
