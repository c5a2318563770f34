package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

var postgresKind = &Kind{
	Name: "postgres", Package: "postgresql", users: []string{"postgres", "nobody"},
	marker: "database system is ready to accept connections",
	stop:   syscall.SIGINT, drop: syscall.SIGQUIT,
	engine: postgres{},
}

type postgres struct{}

var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
}

func (postgres) find() (programs, error) {
	server, err := program([]string{"postgres"}, postgresFolders)
	if err != nil {
		return programs{}, err
	}
	setup, err := siblingProgram(server, []string{"initdb"}, postgresFolders)
	return programs{server: server, setup: setup}, err
}

func (postgres) product(version string) string { return "PostgreSQL " + release(version) }

func (postgres) prepare(ctx context.Context, s *site) error {
	locale := "C"
	if runtime.GOOS == "linux" {
		locale = "C.UTF-8"
	}
	secret, err := s.write("password", s.password)
	if err != nil {
		return err
	}
	err = s.run(ctx, "", s.setup, "-D", s.data(), "-U", "postgres",
		"--pwfile="+secret, "--auth-host=scram-sha-256",
		"--auth-local=trust", "--encoding=UTF8", "--locale="+locale, "--no-sync")
	if err != nil {
		return err
	}
	if err := os.Remove(secret); err != nil {
		return err
	}
	return s.run(ctx, "CREATE DATABASE plinth;\n",
		s.server, "--single", "-D", s.data(), "-F", "postgres")
}

// command leaves synchronous_commit on, so that commits survive a kill of the server.
// This is cheap, because fsync is off. authentication_timeout limits how long a stopping
// server waits for clients that have not authenticated.
func (postgres) command(s *site) (args []string, input string) {
	args = []string{"-D", s.data(), "-p", strconv.Itoa(s.port)}
	for _, setting := range []string{
		"listen_addresses=" + loopback, "unix_socket_directories=", "max_connections=200",
		"authentication_timeout=10s", "fsync=off", "dynamic_shared_memory_type=mmap",
		"logging_collector=off", "lc_messages=C",
		"ssl=on", "ssl_cert_file=" + filepath.Join(s.dir, certificateFile),
		"ssl_key_file=" + filepath.Join(s.dir, keyFile),
	} {
		args = append(args, "-c", setting)
	}
	return args, ""
}

// probe sends a startup message and expects an authentication request.
// https://www.postgresql.org/docs/current/protocol-flow.html
func (postgres) probe(conn net.Conn, _ *site) error {
	const version = 3 << 16
	text := "user\x00postgres\x00database\x00plinth\x00\x00"
	message := append(binary.BigEndian.AppendUint32(make([]byte, 4), version), text...)
	binary.BigEndian.PutUint32(message, uint32(len(message))) // the message is short
	if _, err := conn.Write(message); err != nil {
		return err
	}
	response := make([]byte, 1)
	if _, err := io.ReadFull(conn, response); err != nil {
		return err
	}
	if response[0] != 'R' {
		return fmt.Errorf("response to the startup message: %q", response)
	}
	return nil
}

func (postgres) dsn(s *site) string {
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", s.password), Host: s.address(),
		Path: "/plinth",
	}).String()
}

// discard removes the shared memory segment of a killed server.
func (postgres) discard(ctx context.Context, s *site) {
	id, err := segment(filepath.Join(s.data(), "postmaster.pid"))
	if err == nil {
		_ = s.run(ctx, "", "ipcrm", "-m", id)
	}
}

// segment returns the ID of the shared memory segment: the second word of the seventh
// line of the PID file.
func segment(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) > 6 {
		if words := strings.Fields(lines[6]); len(words) == 2 {
			return words[1], nil
		}
	}
	return "", errors.New("the PID file has no shared memory segment")
}
