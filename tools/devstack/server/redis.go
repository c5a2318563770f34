package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var redisKind = &Kind{
	Name: "redis", Package: "redis-server", users: []string{"redis", "nobody"},
	marker: "eady to accept connections", // releases differ in the first letter
	stop:   syscall.SIGTERM, drop: syscall.SIGKILL,
	second: true, // for TLS
	engine: redis{},
}

type redis struct{}

func (redis) find() (programs, error) {
	server, err := program([]string{"redis-server"},
		[]string{"/usr/sbin", "/opt/homebrew/bin", "/usr/local/bin"})
	return programs{server: server}, err
}

func (redis) product(version string) string { return "Redis " + release(version) }

// prepare detects TLS support. The server reads its settings in order and reports the
// first unknown one.
func (redis) prepare(ctx context.Context, s *site) error {
	const unknown = "no-such-setting"
	_, err := runAs(ctx, s.users, s.dir, "tls-port 0\n"+unknown+" 0\n", []string{s.server, "-"})
	if err == nil {
		return fmt.Errorf("the server accepts the setting %s", unknown)
	}
	s.tls = strings.Contains(err.Error(), unknown)
	return nil
}

// common returns the settings of data nodes. Data is not persisted.
func (redis) common(s *site) []string {
	return []string{
		"port " + strconv.Itoa(s.port), "bind " + loopback, "requirepass " + s.password,
		"dir " + s.dir, `save ""`, "appendonly no", "daemonize no",
	}
}

// command passes the settings on standard input, so that the password is not in the
// process list.
func (r redis) command(s *site) (args []string, input string) {
	settings := r.common(s)
	if s.tls {
		settings = append(settings,
			"tls-port "+strconv.Itoa(s.port+secondPort), "tls-auth-clients no",
			"tls-ca-cert-file "+filepath.Join(s.dir, authorityFile),
			"tls-cert-file "+filepath.Join(s.dir, certificateFile),
			"tls-key-file "+filepath.Join(s.dir, keyFile))
	}
	return []string{"-"}, strings.Join(settings, "\n") + "\n"
}

// probe sends AUTH and PING.
func (redis) probe(conn net.Conn, s *site) error {
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\nPING\r\n", s.password); err != nil {
		return err
	}
	reader := bufio.NewReader(conn)
	for _, want := range []string{"+OK\r\n", "+PONG\r\n"} {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		if line != want {
			return fmt.Errorf("response %q, want %q", line, want)
		}
	}
	return nil
}

func (redis) dsn(s *site) string { return redisURL("redis", s.address(), s.password) }

func (redis) tlsDSN(s *site) string {
	if !s.tls {
		return ""
	}
	return redisURL("rediss", s.secondAddress(), s.password)
}

func redisURL(scheme, address, password string) string {
	return (&url.URL{
		Scheme: scheme, User: url.UserPassword("", password), Host: address, Path: "/0",
	}).String()
}

func (redis) discard(context.Context, *site) {}
