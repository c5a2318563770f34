package email_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/textproto"
	"sync"
	"testing"
)

// faultyServer is a minimal SMTP server that misbehaves as configured.
type faultyServer struct {
	port int
	tls  *tls.Config // for STARTTLS, or from the first byte if implicit is set
	// implicit encrypts from the first byte.
	implicit bool
	// stall and drop name the step at which the server stops responding or closes the
	// connection; see step.
	stall, drop string
	// unread stops reading the content and keeps the connection open.
	unread bool
	// once limits stall and drop to the first connection.
	once bool
	// replies overrides the replies by command name, "greeting" or "content".
	replies map[string]string

	done chan struct{} // closed at the end of the test

	mu       sync.Mutex
	conns    int
	received []string // commands of all connections
}

func startFaultyServer(t *testing.T, c *faultyServer) *faultyServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.port = listener.Addr().(*net.TCPAddr).Port
	if c.tls == nil {
		c.tls = hostTLS()
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	c.done = make(chan struct{})
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = conn.Close() })
			c.mu.Lock()
			c.conns++
			n := c.conns
			c.mu.Unlock()
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				c.serve(conn, n)
			})
		}
	})
	t.Cleanup(func() {
		cancel()
		close(c.done)
		_ = listener.Close()
		wg.Wait()
	})
	return c
}

// step applies the configured fault of a step. It returns false if the connection must be
// closed.
func (c *faultyServer) step(conn net.Conn, n int, name string) bool {
	if c.once && n > 1 {
		return true
	}
	switch name {
	case c.stall:
		_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
		return false
	case c.drop:
		return false
	}
	return true
}

func (c *faultyServer) serve(conn net.Conn, n int) {
	if c.implicit {
		if !c.step(conn, n, "tls") {
			return
		}
		conn = tls.Server(conn, c.tls)
	}
	text := textproto.NewConn(conn)
	if !c.step(conn, n, "greeting") ||
		text.PrintfLine("%s", c.reply("greeting", "220 ready")) != nil {
		return
	}
	encrypted := c.implicit
	for {
		line, err := text.ReadLine()
		if err != nil {
			return
		}
		name := line[:min(4, len(line))]
		c.mu.Lock()
		c.received = append(c.received, line)
		c.mu.Unlock()
		if encrypted && name == "EHLO" {
			name = "EHLO2"
		}
		if !c.step(conn, n, name) {
			return
		}
		switch name {
		case "EHLO":
			err = text.PrintfLine("%s", c.reply(name, "250-test\r\n250 STARTTLS"))
		case "EHLO2":
			err = text.PrintfLine("%s", c.reply(name, "250-test\r\n250 AUTH PLAIN"))
		case "STAR":
			if text.PrintfLine("%s", c.reply(name, "220 go")) != nil || !c.step(conn, n, "tls") {
				return
			}
			conn = tls.Server(conn, c.tls)
			text, encrypted = textproto.NewConn(conn), true
		case "AUTH":
			err = text.PrintfLine("%s", c.reply(name, "235 fine"))
		case "DATA":
			if !c.data(conn, text, n) {
				return
			}
		case "QUIT":
			_ = text.PrintfLine("221 bye")
			return
		default:
			err = text.PrintfLine("%s", c.reply(name, "250 fine"))
		}
		if err != nil {
			return
		}
	}
}

func (c *faultyServer) data(conn net.Conn, text *textproto.Conn, n int) bool {
	dataReply := c.reply("DATA", "354 go on")
	if text.PrintfLine("%s", dataReply) != nil {
		return false
	}
	if dataReply[0] != '3' {
		return true
	}
	if c.unread {
		<-c.done
	}
	if !c.step(conn, n, "mid") {
		return false
	}
	if _, err := io.Copy(io.Discard, text.DotReader()); err != nil || !c.step(conn, n, "content") {
		return false
	}
	return text.PrintfLine("%s", c.reply("content", "250 accepted")) == nil
}

func (c *faultyServer) reply(name, usual string) string {
	if a, ok := c.replies[name]; ok {
		return a
	}
	return usual
}

// commands returns the names of the received commands.
func (c *faultyServer) commands() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, line := range c.received {
		names = append(names, line[:min(4, len(line))])
	}
	return names
}

func (c *faultyServer) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns
}
