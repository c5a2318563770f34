// Package sink is a mail server for one machine: it delivers nothing, and shows what it
// gets.
package sink

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-smtp"
)

// Refused is the domain for which the server has no mailboxes, so that there is a mail
// which cannot be sent.
const Refused = "refused.example"

const (
	timeout = 30 * time.Second
	maxSize = 1 << 20
)

// Receive is given each mail before the client is told that it was taken. An error
// refuses it.
type Receive func(m Mail) error

// Server is a mail server.
type Server struct {
	smtp     *smtp.Server
	listener net.Listener
	addr     *net.TCPAddr
	done     chan error // gets the outcome of Serve
}

// Listen starts a server on a free port of 127.0.0.1.
func Listen(ctx context.Context, receive Receive) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(errors.New("the listener has no port"), listener.Close())
	}
	s := &Server{listener: listener, addr: addr, done: make(chan error, 1)}
	s.smtp = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{receive: receive}, nil
	}))
	s.smtp.Domain, s.smtp.MaxMessageBytes = "sink.example", maxSize
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = timeout, timeout
	go func() { s.done <- s.smtp.Serve(listener) }()
	return s, nil
}

// Host is the address of the server.
func (s *Server) Host() string { return s.addr.IP.String() }

// Port is the port of the server.
func (s *Server) Port() int { return s.addr.Port }

// Close ends the server and its connections.
func (s *Server) Close() error {
	err := s.smtp.Close()
	_ = s.listener.Close() // the server does not know it yet where Serve has not begun
	return errors.Join(err, <-s.done)
}

// session is one connection.
type session struct {
	receive Receive
	to      []string
}

// Mail implements smtp.Session.
func (*session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasSuffix(to, "@"+Refused) {
		return &smtp.SMTPError{
			Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1},
			Message: "no such mailbox",
		}
	}
	s.to = append(s.to, to)
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	m, err := read(r)
	if err != nil {
		return err
	}
	m.To = slices.Clone(s.to)
	return s.receive(m)
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.to = nil }

// Logout implements smtp.Session.
func (*session) Logout() error { return nil }
