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

// crude is a server of a few lines that misbehaves where it is told to.
type crude struct {
	port int
	tls  *tls.Config // for STARTTLS, or from the first byte with implicit
	// implicit encrypts from the first byte.
	implicit bool
	// stall and drop name the step at which the server goes silent or closes the
	// connection; see step.
	stall, drop string
	// unread stops reading at the content and keeps the connection open.
	unread bool
	// once lets stall and drop happen on the first connection only.
	once bool
	// answers replaces those to commands; the key is the command's name, "greeting" or
	// "content".
	answers map[string]string

	ended chan struct{} // closed at the end of the test

	mu    sync.Mutex
	conns int
	said  []string // commands of all connections
}

func startCrude(t *testing.T, c *crude) *crude {
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
	c.ended = make(chan struct{})
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
		close(c.ended)
		_ = listener.Close()
		wg.Wait()
	})
	return c
}

// step does what the server is told to do at a step; false ends the connection.
func (c *crude) step(conn net.Conn, n int, name string) bool {
	if c.once && n > 1 {
		return true
	}
	switch name {
	case c.stall:
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
		return false
	case c.drop:
		return false
	}
	return true
}

func (c *crude) serve(conn net.Conn, n int) {
	if c.implicit {
		if !c.step(conn, n, "tls") {
			return
		}
		conn = tls.Server(conn, c.tls)
	}
	text := textproto.NewConn(conn)
	if !c.step(conn, n, "greeting") ||
		text.PrintfLine("%s", c.answer("greeting", "220 ready")) != nil {
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
		c.said = append(c.said, line)
		c.mu.Unlock()
		if encrypted && name == "EHLO" {
			name = "EHLO2"
		}
		if !c.step(conn, n, name) {
			return
		}
		switch name {
		case "EHLO":
			err = text.PrintfLine("%s", c.answer(name, "250-crude\r\n250 STARTTLS"))
		case "EHLO2":
			err = text.PrintfLine("%s", c.answer(name, "250-crude\r\n250 AUTH PLAIN"))
		case "STAR":
			if text.PrintfLine("%s", c.answer(name, "220 go")) != nil || !c.step(conn, n, "tls") {
				return
			}
			conn = tls.Server(conn, c.tls)
			text, encrypted = textproto.NewConn(conn), true
		case "AUTH":
			err = text.PrintfLine("%s", c.answer(name, "235 fine"))
		case "DATA":
			if !c.data(conn, text, n) {
				return
			}
		case "QUIT":
			_ = text.PrintfLine("221 bye")
			return
		default:
			err = text.PrintfLine("%s", c.answer(name, "250 fine"))
		}
		if err != nil {
			return
		}
	}
}

func (c *crude) data(conn net.Conn, text *textproto.Conn, n int) bool {
	answer := c.answer("DATA", "354 go on")
	if text.PrintfLine("%s", answer) != nil {
		return false
	}
	if answer[0] != '3' {
		return true
	}
	if c.unread {
		<-c.ended
	}
	if !c.step(conn, n, "mid") {
		return false
	}
	if _, err := io.Copy(io.Discard, text.DotReader()); err != nil || !c.step(conn, n, "content") {
		return false
	}
	return text.PrintfLine("%s", c.answer("content", "250 accepted")) == nil
}

func (c *crude) answer(name, usual string) string {
	if a, ok := c.answers[name]; ok {
		return a
	}
	return usual
}

// commands returns the names of the commands so far.
func (c *crude) commands() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, line := range c.said {
		names = append(names, line[:min(4, len(line))])
	}
	return names
}

func (c *crude) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns
}
