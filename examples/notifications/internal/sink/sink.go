// Package sink is a local mail server that passes messages to a function instead of
// delivering them.
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

// Refused is a domain whose mailboxes the server rejects, to demonstrate permanent
// failures.
const Refused = "refused.example"

const (
	timeout = 30 * time.Second
	maxSize = 1 << 20
)

// Receive receives each email before the server accepts it. An error rejects the email.
type Receive func(m Mail) error

// Server is an SMTP server.
type Server struct {
	smtp     *smtp.Server
	listener net.Listener
	addr     *net.TCPAddr
	done     chan error // receives the result of Serve
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

// Host returns the address of the server.
func (s *Server) Host() string { return s.addr.IP.String() }

// Port returns the port of the server.
func (s *Server) Port() int { return s.addr.Port }

// Close closes the server and its connections.
func (s *Server) Close() error {
	err := s.smtp.Close()
	_ = s.listener.Close() // smtp.Close does not close the listener if Serve has not started
	return errors.Join(err, <-s.done)
}

// session is a connection.
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
			Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox",
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
