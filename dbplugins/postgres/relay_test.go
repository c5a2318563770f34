package postgres_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// relay copies bytes between its clients and a server.
type relay struct {
	server string
	// start copies the startup messages of the server, and may change them
	start func(client io.Writer, server io.Reader) error

	mu    sync.Mutex
	conns []net.Conn
	done  sync.WaitGroup
}

// pooled returns the configuration of the same database behind a fake connection pooler.
// The fake reports another process ID than the server, but does not switch sessions.
func pooled(t *testing.T, config driver.Config) driver.Config {
	t.Helper()
	address := listen(t, config, "tcp", "127.0.0.1:0", renumber)
	config.Host, config.Port = "127.0.0.1", address.(*net.TCPAddr).Port
	return config
}

// throughSocket returns the configuration of the same database behind a Unix socket.
func throughSocket(t *testing.T, config driver.Config) driver.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listen(t, config, "unix", filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(config.Port)),
		func(io.Writer, io.Reader) error { return nil })
	config.Host = dir
	return config
}

// listen starts a relay to the server of config. The relay stops after the test.
func listen(
	t *testing.T, config driver.Config, network, address string,
	start func(io.Writer, io.Reader) error,
) net.Addr {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{server: net.JoinHostPort(config.Host, strconv.Itoa(config.Port)), start: start}
	r.done.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.done.Go(func() { r.serve(t, client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.mu.Lock()
		for _, conn := range r.conns {
			_ = conn.Close()
		}
		r.mu.Unlock()
		r.done.Wait()
	})
	return listener.Addr()
}

func (r *relay) serve(t *testing.T, client net.Conn) {
	server, err := net.Dial("tcp", r.server) //nolint:noctx // ended by closing it
	if err != nil {
		t.Error(err)
		_ = client.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, client, server)
	r.mu.Unlock()
	r.done.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	if err := r.start(client, server); err == nil {
		_, _ = io.Copy(client, server)
	}
	_ = client.Close()
}

// renumber copies the server's messages up to the first ReadyForQuery and changes the
// process ID in BackendKeyData.
func renumber(client io.Writer, server io.Reader) error {
	for header := make([]byte, 5); ; {
		if _, err := io.ReadFull(server, header); err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(header[1:])
		if size < 4 || size > 1<<16 {
			return errors.New("invalid PostgreSQL message")
		}
		message := make([]byte, 5+size-4)
		copy(message, header)
		if _, err := io.ReadFull(server, message[5:]); err != nil {
			return err
		}
		if header[0] == 'K' {
			binary.BigEndian.PutUint32(message[5:], 1<<30|binary.BigEndian.Uint32(message[5:]))
		}
		if _, err := client.Write(message); err != nil || header[0] == 'Z' {
			return err
		}
	}
}
