package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

var redisKind = &Kind{
	Name: "redis", Package: "redis-server", users: []string{"redis", "nobody"},
	marker: "eady to accept connections", // releases differ in the first letter
	stop:   syscall.SIGTERM, drop: syscall.SIGKILL,
	engine: redis{},
}

type redis struct{}

func (redis) find() (programs, error) {
	server, err := program([]string{"redis-server"}, []string{"/usr/sbin", "/opt/homebrew/bin", "/usr/local/bin"})
	return programs{server: server}, err
}

func (redis) product(version string) string { return "Redis " + release(version) }

func (redis) prepare(context.Context, *site) error { return nil }

// command gives the settings on the standard input: the password is in nobody's list of processes.
func (redis) command(s *site) (args []string, input string) {
	return []string{"-"}, strings.Join([]string{
		"port " + strconv.Itoa(s.port), "bind " + loopback, "requirepass " + s.password, "dir " + s.dir,
		`save ""`, "appendonly no", "daemonize no",
	}, "\n") + "\n"
}

// probe sends AUTH and PING.
func (redis) probe(conn net.Conn, s *site) error {
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\nPING\r\n", s.password); err != nil {
		return err
	}
	answer := bufio.NewReader(conn)
	for _, want := range []string{"+OK\r\n", "+PONG\r\n"} {
		line, err := answer.ReadString('\n')
		if err != nil {
			return err
		}
		if line != want {
			return fmt.Errorf("the answer is %q, not %q", line, want)
		}
	}
	return nil
}

func (redis) dsn(s *site) string {
	return (&url.URL{Scheme: "redis", User: url.UserPassword("", s.password), Host: s.address(), Path: "/0"}).String()
}

func (redis) discard(context.Context, *site) {}
