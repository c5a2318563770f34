// Package server starts private database, cache and mail servers for tests: each in a
// temporary folder, on a free port of 127.0.0.1, with a random password, where it asks
// for one, and a certificate. Nothing of it stays when its Group is closed.
//
// The binaries have to be on the machine; nothing is downloaded. Linux and macOS only.
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

// Kind is one kind of server. There is one value of each.
type Kind struct {
	Name    string // in variables and requests, as "postgres"
	Package string // of Debian, with the server

	// that the server may run as when this process is root, best first; none: it needs
	// root
	users      []string
	marker     string         // in the log when the server is ready
	stop, drop syscall.Signal // to end in order, and without care for the data
	second     bool           // it also listens on its second port
	engine
}

// engine is what a kind of server does its own way.
type engine interface {
	// find looks for the binaries. The error says what is missing.
	find() (programs, error)
	// product is how the server calls itself, made of what the command says that tells
	// its version.
	product(version string) string
	// prepare makes the data folder of s.
	prepare(ctx context.Context, s *site) error
	// command returns the server's arguments and what it reads from its standard input.
	command(s *site) (arguments []string, input string)
	// probe asks over a new connection whether the server answers.
	probe(conn net.Conn, s *site) error
	// dsn is the connection string of an administrator.
	dsn(s *site) string
	// discard frees what a killed server has left outside its folder.
	discard(ctx context.Context, s *site)
}

// configurer is an engine whose servers have a file of settings, which they may change
// while they run.
type configurer interface {
	// configure writes the file, when the port is known and the server has never run.
	configure(s *site) error
}

// encrypter is an engine whose servers listen for TLS on a port of its own.
type encrypter interface {
	// tlsDSN is like dsn, over TLS; empty where the server cannot.
	tlsDSN(s *site) string
}

// programs are the binaries of one kind.
type programs struct {
	server string
	setup  string // makes a data folder; empty where the server needs none or does it itself
	tls    bool   // the server was built with TLS, where some are not

	main    string   // what the server becomes, where it is a shell that prepares it
	version []string // the command that tells it, where that is not the server with --version
}

// site is where one server lives.
type site struct {
	programs
	dir      string // owned by the server's user, and for nobody else
	port     int
	password string
	users    []string
	settings []string // beyond those of the kind
	secrets  []string // in them
}

func (s *site) address() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// secondPort is the distance between a server's two ports: what a Redis Cluster has for
// its bus.
const secondPort = 10000

func (s *site) secondAddress() string {
	return net.JoinHostPort(loopback, strconv.Itoa(s.port+secondPort))
}

// data is the folder of the data.
func (s *site) data() string { return filepath.Join(s.dir, "data") }

// run runs a command as the server's user.
func (s *site) run(ctx context.Context, stdin string, command ...string) error {
	_, err := runAs(ctx, s.users, s.dir, stdin, command)
	return s.masked(err)
}

// write writes a file that only the server's user can read.
func (s *site) write(name, text string) (path string, err error) {
	path = filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	return path, own(path, s.users)
}

// masked removes the passwords from an error.
func (s *site) masked(err error) error {
	for _, secret := range append([]string{s.password}, s.secrets...) {
		if err != nil && strings.Contains(err.Error(), secret) {
			err = errors.New(strings.ReplaceAll(err.Error(), secret, "***"))
		}
	}
	return err
}

const loopback = "127.0.0.1"

// Kinds are the kinds of which each run has a server, in the order of tables.
func Kinds() []*Kind { return []*Kind{postgresKind, mysqlKind, redisKind, postfixKind} }

// ByName returns the kind with that name.
func ByName(name string) (kind *Kind, ok bool) {
	i := slices.IndexFunc(Kinds(), func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return Kinds()[i], true
}

// Missing is the error of a server that is not on this machine.
type Missing struct {
	Kind    *Kind
	Problem string
	Root    bool // only root could start it, whatever is installed
}

// Error implements error.
func (m *Missing) Error() string {
	switch {
	case !supported:
		return "private servers are started on Linux and macOS only"
	case m.Root:
		return "only root can start a private " + m.Kind.Name
	}
	return fmt.Sprintf("%s; on Debian or Ubuntu: apt-get install %s", m.Problem, m.Kind.Package)
}

// Look returns nil where a server of the kind can be started here, else a *Missing.
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
