package redis_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a scripted server that records its commands. It simulates lost replies and old
// servers.
type fake struct {
	listener net.Listener
	reply    func(words []string) string // "" closes the connection

	mu       sync.Mutex
	received []string
}

// pause in a reply is a delay.
const (
	pause  = "\x00pause\x00"
	pauses = 30 * time.Millisecond
)

// newFake starts a server.
func newFake(tb testing.TB, reply func(f *fake, words []string) string) *fake {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	f := &fake{listener: l}
	f.reply = func(words []string) string { return reply(f, words) }
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			all.Go(func() { f.serve(c) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return f
}

func (f *fake) address() string { return f.listener.Addr().String() }

func (f *fake) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		words, err := readWords(in)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.received = append(f.received, strings.Join(words, " "))
		f.mu.Unlock()
		reply := f.reply(words)
		if reply == "" {
			return
		}
		for part := range strings.SplitSeq(reply+"\r\n", pause) {
			if _, err := io.WriteString(c, part); err != nil {
				return
			}
			if strings.Contains(reply, pause) {
				<-time.After(pauses)
			}
		}
	}
}

// readWords reads one command: *2, then $3 and a string twice.
func readWords(in *bufio.Reader) ([]string, error) {
	number := func(mark byte) (int, error) {
		line, err := in.ReadString('\n')
		if err != nil || line[0] != mark {
			return 0, fmt.Errorf("%q: %w", line, err)
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := number('*')
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		size, err := number('$')
		if err != nil {
			return nil, err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:size])
	}
	return words, nil
}

// commands returns the received commands, one per line.
func (f *fake) commands() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.received...)
}

// count returns the number of commands that start with a word.
func (f *fake) count(word string) int {
	n := 0
	for _, line := range f.commands() {
		if first, _, _ := strings.Cut(line, " "); first == word {
			n++
		}
	}
	return n
}

// oldServer replies like a server before version 6: it does not support HELLO and repeats
// unknown commands in errors.
func oldServer(_ *fake, words []string) string {
	switch words[0] {
	case "ping":
		return "+PONG"
	case "auth", "select":
		return "+OK"
	default:
		return "-ERR unknown command `" + words[0] + "`, with args beginning with: `" +
			strings.Join(words[1:], "`, `") + "`"
	}
}

// slots replies like a cluster with one server.
func (f *fake) slots() string {
	host, port, _ := net.SplitHostPort(f.address())
	return fmt.Sprintf("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$%d\r\n%s\r\n:%s\r\n$2\r\nid",
		len(host), host, port)
}
