// Package server starts private database, cache and mail servers for tests. Each server
// has a temporary directory, a free port on 127.0.0.1, a random password if it supports
// one, and a certificate. Closing the Group removes everything.
//
// The binaries must be installed; nothing is downloaded. The package supports Linux and
// macOS.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Kind is a kind of server. There is one value per kind.
type Kind struct {
	Name    string // in variables and requests, such as "postgres"
	Package string // Debian package of the server

	// Users for the server if this process is root, in order of preference. If empty, the
	// server must run as root.
	users      []string
	marker     string         // text in the log when the server is ready
	stop, drop syscall.Signal // signals for a graceful exit, and for an exit that may lose data
	second     bool           // whether the server also uses its second port
	engine
}

// engine is the behavior that differs between kinds.
type engine interface {
	// find returns the binaries, or an error that names the missing one.
	find() (programs, error)
	// product returns the product name and release for the output of the version command.
	product(version string) string
	// prepare initializes the data directory of s.
	prepare(ctx context.Context, s *site) error
	// command returns the arguments and the standard input of the server.
	command(s *site) (arguments []string, input string)
	// probe checks over a new connection that the server responds.
	probe(conn net.Conn, s *site) error
	// dsn returns the connection string of an administrator.
	dsn(s *site) string
	// discard releases resources of a killed server outside its directory.
	discard(ctx context.Context, s *site)
}

// configurer is an engine with a configuration file that servers may change at run time.
type configurer interface {
	// configure writes the file before the first start. The port is already set.
	configure(s *site) error
}

// encrypter is an engine whose servers have a separate TLS port.
type encrypter interface {
	// tlsDSN is like dsn, but over TLS. It returns "" if the server does not support TLS.
	tlsDSN(s *site) string
}

// programs are the binaries of a kind.
type programs struct {
	server string
	setup  string // initializes a data directory; "" if not needed
	tls    bool   // whether the server was built with TLS

	main    string   // the server process if server is a shell that starts it
	version []string // prints the version; the default is server --version
}

// site is the directory, address and configuration of a server.
type site struct {
	programs
	dir      string // owned by the user of the server and not accessible to others
	port     int
	password string
	users    []string
	settings []string // in addition to those of the kind
	secrets  []string // secrets in settings
}

func (s *site) address() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// secondPort is the distance between the two ports of a server. Redis Cluster uses it for
// its bus.
const secondPort = 10000

func (s *site) secondAddress() string {
	return net.JoinHostPort(loopback, strconv.Itoa(s.port+secondPort))
}

// data returns the data directory.
func (s *site) data() string { return filepath.Join(s.dir, "data") }

// run runs a command as the user of the server.
func (s *site) run(ctx context.Context, stdin string, command ...string) error {
	_, err := runAs(ctx, s.users, s.dir, stdin, command)
	return s.masked(err)
}

// write writes a file that only the user of the server can read.
func (s *site) write(name, text string) (path string, err error) {
	path = filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	return path, changeOwner(path, s.users)
}

// masked removes passwords from an error.
func (s *site) masked(err error) error {
	for _, secret := range append([]string{s.password}, s.secrets...) {
		if err != nil && strings.Contains(err.Error(), secret) {
			err = errors.New(strings.ReplaceAll(err.Error(), secret, "***"))
		}
	}
	return err
}

const loopback = "127.0.0.1"

// Kinds returns the kinds of servers, in the order of the table.
func Kinds() []*Kind { return []*Kind{postgresKind, mysqlKind, redisKind, postfixKind} }

// ByName returns the kind with the given name.
func ByName(name string) (kind *Kind, ok bool) {
	i := slices.IndexFunc(Kinds(), func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return Kinds()[i], true
}

// Missing is the error for a server that cannot be started on this machine.
type Missing struct {
	Kind    *Kind
	Problem string
	Root    bool // only root can start it
}

// Error implements error.
func (m *Missing) Error() string {
	switch {
	case !supported:
		return "private servers require Linux or macOS"
	case m.Root:
		return "only root can start a private " + m.Kind.Name
	}
	return fmt.Sprintf("%s; on Debian or Ubuntu: apt-get install %s", m.Problem, m.Kind.Package)
}

// Look returns nil if the kind can be started on this machine, or else a *Missing.
func (k *Kind) Look() error {
	_, err := k.look()
	return err
}

func (k *Kind) look() (programs, error) {
	if !supported {
		return programs{}, &Missing{Kind: k}
	}
	if len(k.users) == 0 && os.Geteuid() != 0 {
		return programs{}, &Missing{Kind: k, Root: true}
	}
	found, err := k.find()
	if err != nil {
		return programs{}, &Missing{Kind: k, Problem: err.Error()}
	}
	return found, nil
}
