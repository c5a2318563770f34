package email_test

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/plinthgo/plinth/notifyx/email"
)

const (
	user     = "service"
	password = "hunter2-Geheim"
)

// received is a message that a test server accepted.
type received struct {
	from string
	to   []string
	utf8 bool
	data []byte
	conn int
}

// server is an SMTP server with hooks. A nil hook accepts.
type server struct {
	*smtp.Server

	port    int
	mail    func(n int) error // n is the number of the call, from 1
	rcpt    func(to string) error
	data    func(n int) error
	hold    chan struct{} // DATA waits until it is closed, after reading the message
	holding chan struct{} // receives a value when DATA waits
	mechs   map[string]func() sasl.Server

	mu       sync.Mutex
	mails    int
	datas    int
	sessions int
	resets   int
	logins   int
	open     []net.Conn
	last     *smtp.Conn
	messages []received
}

// startServer starts a server that offers STARTTLS and, over TLS, authentication.
func startServer(t *testing.T, change func(*server)) *server {
	t.Helper()
	s := &server{holding: make(chan struct{}, 100), mechs: map[string]func() sasl.Server{}}
	s.mechs[sasl.Plain] = func() sasl.Server {
		return sasl.NewPlainServer(func(_, name, pass string) error {
			return s.check(name == user && pass == password)
		})
	}
	s.Server = smtp.NewServer(smtp.BackendFunc(s.session))
	s.TLSConfig, s.EnableSMTPUTF8, s.Domain = hostTLS(), true, "test.example"
	s.ErrorLog = silent{}
	if change != nil {
		change(s)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(trackedListener{listener, s})
	}()
	t.Cleanup(func() {
		_ = s.Close()
		_ = listener.Close() // if Serve has not started
		<-done
	})
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

func (s *server) check(ok bool) error {
	if !ok {
		return &smtp.SMTPError{
			Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8},
			Message: "no such user: " + user + " " + password,
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins++
	return nil
}

func (s *server) session(c *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	s.last = c
	return &transaction{server: s, conn: s.sessions}, nil
}

func (s *server) counts() (sessions, messages, resets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions, len(s.messages), s.resets
}

func (s *server) got() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// trackedListener records the connections of a server. Server.Close must not touch
// connections during a handshake.
type trackedListener struct {
	net.Listener
	server *server
}

func (l trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.server.mu.Lock()
		defer l.server.mu.Unlock()
		l.server.open = append(l.server.open, conn)
	}
	return conn, err
}

// dropAll closes all connections.
func (s *server) dropAll() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// transaction is a session of the server.
type transaction struct {
	server  *server
	conn    int
	message received
}

func (x *transaction) AuthMechanisms() []string {
	var names []string
	for name := range x.server.mechs {
		names = append(names, name)
	}
	return names
}

func (x *transaction) Auth(mech string) (sasl.Server, error) { return x.server.mechs[mech](), nil }

func (x *transaction) Mail(from string, o *smtp.MailOptions) error {
	x.server.mu.Lock()
	x.server.mails++
	n := x.server.mails
	x.server.mu.Unlock()
	x.message = received{from: from, utf8: o.UTF8, conn: x.conn}
	if x.server.mail != nil {
		return x.server.mail(n)
	}
	return nil
}

func (x *transaction) Rcpt(to string, _ *smtp.RcptOptions) error {
	x.message.to = append(x.message.to, to)
	if x.server.rcpt != nil {
		return x.server.rcpt(to)
	}
	return nil
}

func (x *transaction) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s := x.server
	s.mu.Lock()
	s.datas++
	n := s.datas
	s.mu.Unlock()
	if s.hold != nil {
		s.holding <- struct{}{}
		<-s.hold
	}
	if s.data != nil {
		if err := s.data(n); err != nil {
			return err
		}
	}
	x.message.data = data
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, x.message)
	return nil
}

func (x *transaction) Reset() {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.server.resets++
}

func (*transaction) Logout() error { return nil }

// reply returns an SMTP reply.
func reply(code int, enhanced ...int) error {
	e := &smtp.SMTPError{Code: code, Message: "about secret@example.com"}
	copy(e.EnhancedCode[:], enhanced)
	return e
}

// config returns a configuration with short timeouts for a test server.
func config(port int) email.Config {
	return email.Config{
		Host: "127.0.0.1", Port: port, User: user, Pass: password, From: "service@example.com",
		FromName: "The Service",
		RootCAs:  testCA().pool, LocalName: "client.example",
		Backoff: func(int) time.Duration { return time.Millisecond },
	}
}

// newClient returns a client that is closed at the end of the test.
func newClient(t *testing.T, c email.Config) *email.EmailClient {
	t.Helper()
	client, err := email.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return client
}

// connect starts a server and returns a client for it.
func connect(t *testing.T, change func(*server)) (*email.EmailClient, *server) {
	t.Helper()
	s := startServer(t, change)
	return newClient(t, config(s.port)), s
}

func hello(to ...string) *email.Message {
	if to == nil {
		to = []string{"user@example.com"}
	}
	return &email.Message{ID: "m-1", To: to, Subject: "Hello", Text: "Hello"}
}

func contextWith(ctx context.Context, key, value any) context.Context {
	return context.WithValue(ctx, key, value)
}
