package server

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var mysqlKind = &Kind{
	Name: "mysql", Package: "mariadb-server", users: []string{"mysql", "nobody"},
	marker: "ready for connections",
	stop:   syscall.SIGTERM, drop: syscall.SIGKILL,
	engine: mysql{},
}

// mysql runs MariaDB or, if that is not installed, MySQL.
type mysql struct{}

var mysqlFolders = []string{
	"/usr/sbin", "/usr/libexec", "/usr/local/sbin",
	"/opt/homebrew/opt/mariadb*/bin", "/opt/homebrew/opt/mysql*/bin", "/usr/local/opt/mariadb*/bin",
	"/usr/local/opt/mysql*/bin",
	"/usr/local/mysql/bin",
}

func (mysql) find() (programs, error) {
	server, err := program([]string{"mariadbd", "mysqld"}, mysqlFolders)
	if err != nil {
		return programs{}, err
	}
	if !isMariaDB(server) {
		return programs{server: server}, nil // mysqld initializes its data directory
	}
	setup, err := siblingProgram(server, []string{"mariadb-install-db", "mysql_install_db"},
		append(mysqlFolders, "/usr/bin"))
	return programs{server: server, setup: setup}, err
}

func isMariaDB(server string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, server, "--no-defaults", "--version").Output()
	return err == nil && strings.Contains(string(out), "MariaDB")
}

func (mysql) product(version string) string {
	_, number, _ := strings.Cut(version, " Ver ")
	if strings.Contains(version, "MariaDB") {
		return "MariaDB " + release(number)
	}
	return "MySQL " + release(number)
}

func (m mysql) prepare(ctx context.Context, s *site) error {
	dropUsers := "DROP USER IF EXISTS root@localhost;\n"
	create := append(append([]string{s.server}, m.common(s)...), "--initialize-insecure")
	if s.setup != "" {
		dropUsers = "DELETE FROM mysql.global_priv WHERE Host <> '%' AND User IN ('root', '');\nFLUSH PRIVILEGES;\n"
		create = []string{
			s.setup, "--no-defaults",
			"--datadir=" + s.data(), "--auth-root-authentication-method=normal", "--skip-test-db",
			"--skip-name-resolve", "--innodb-log-file-size=16M", "--innodb-flush-method=nosync",
		}
	}
	if err := s.run(ctx, "", create...); err != nil {
		return err
	}
	_, err := s.write(accountsFile, dropUsers+
		"CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '"+s.password+"';\n"+
		"GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;\n"+
		"CREATE DATABASE IF NOT EXISTS plinth CHARACTER SET utf8mb4;\n")
	return err
}

// accountsFile contains statements that leave one account: root, with a password, from
// any host. The server runs them at each start before it accepts connections, so a new
// data directory is never reachable without a password.
const accountsFile = "accounts.sql"

// common returns the arguments of every server command. Commits are written to the file
// but not flushed to disk, so they survive a kill of the server.
func (mysql) common(s *site) []string {
	return []string{
		"--no-defaults", "--datadir=" + s.data(), "--tmpdir=" + s.dir,
		"--character-set-server=utf8mb4", "--skip-log-bin", "--skip-name-resolve",
		"--performance-schema=OFF",
		"--innodb-buffer-pool-size=64M", "--loose-innodb-log-file-size=16M",
		"--loose-innodb-redo-log-capacity=32M",
		"--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync",
	}
}

func (m mysql) command(s *site) (args []string, input string) {
	return append(m.common(s),
		"--port="+strconv.Itoa(s.port), "--bind-address="+loopback, "--max-connections=300",
		"--loose-mysqlx=OFF",
		"--init-file="+filepath.Join(s.dir, accountsFile),
		"--socket="+filepath.Join(s.dir, "s"), "--pid-file="+filepath.Join(s.dir, "pid"),
		"--ssl-ca="+filepath.Join(s.dir, authorityFile),
		"--ssl-cert="+filepath.Join(s.dir, certificateFile),
		"--ssl-key="+filepath.Join(s.dir, keyFile),
	), ""
}

// probe reads the greeting packet of protocol version 10.
// https://mariadb.com/kb/en/connection/#initial-handshake-packet
func (mysql) probe(conn net.Conn, _ *site) error {
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[4] != 10 {
		return fmt.Errorf("greeting: protocol version %d, length %d",
			head[4], binary.LittleEndian.Uint16(head))
	}
	return nil
}

func (mysql) dsn(s *site) string {
	return "root:" + s.password + "@tcp(" + s.address() + ")/plinth"
}

func (mysql) discard(context.Context, *site) {}
