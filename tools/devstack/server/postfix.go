package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// postfixKind has no users: the master process runs as root and starts services as other
// users.
var postfixKind = &Kind{
	Name: "postfix", Package: "postfix",
	marker: "daemon started",
	stop:   syscall.SIGTERM, drop: syscall.SIGTERM, // the master forwards it to its services
	engine: postfix{},
}

// postfix runs a Postfix that accepts mail for every domain and delivers it to one
// Maildir. It has no service that sends mail.
type postfix struct{}

const (
	mailOwner  = "postfix"  // owns the queue
	mailGroup  = "postdrop" // must exist, but is not used
	mailReader = "nobody"   // owns the Maildir; must not be root or mailOwner
)

var (
	postfixFolders = []string{"/usr/sbin", "/usr/local/sbin"}
	postfixQueues  = []string{
		"active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming",
		"maildrop", "private", "public", "saved", "trace",
	}
)

func (postfix) find() (programs, error) {
	if runtime.GOOS != "linux" {
		return programs{}, errors.New("a private Postfix requires Linux")
	}
	command, err := program([]string{"postfix"}, postfixFolders)
	if err != nil {
		return programs{}, err
	}
	settings, err := siblingProgram(command, []string{"postconf"}, postfixFolders)
	if err != nil {
		return programs{}, err
	}
	for _, name := range []string{mailOwner, mailReader} {
		if _, err := user.Lookup(name); err != nil {
			return programs{}, err
		}
	}
	if _, err := user.LookupGroup(mailGroup); err != nil {
		return programs{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	folder, err := exec.CommandContext(ctx, settings, "-d", "-h", "daemon_directory").Output()
	if err != nil {
		return programs{}, fmt.Errorf("%s: %w", settings, err)
	}
	master := filepath.Join(strings.TrimSpace(string(folder)), "master")
	if !executable(master) {
		return programs{}, fmt.Errorf("%s is not installed", master)
	}
	shell, err := program([]string{"sh"}, nil)
	if err != nil {
		return programs{}, err
	}
	if _, err := program([]string{"flock"}, nil); err != nil {
		return programs{}, err
	}
	return programs{server: shell, main: master, version: []string{settings, "-d", "mail_version"}},
		nil
}

func (postfix) product(version string) string { return "Postfix " + release(version) }

func (postfix) prepare(context.Context, *site) error { return nil }

// services is the content of master.cf, with a format verb for the port. No service
// connects to other servers or uses chroot. https://www.postfix.org/master.5.html
const services = `
# name        type       private unpriv chroot wakeup processes command
127.0.0.1:%d  inet       n       -      -      -      -         smtpd
postlog       unix-dgram n       -      -      -      1         postlogd
cleanup       unix       n       -      -      -      0         cleanup
qmgr          unix       n       -      -      300    1         qmgr
rewrite       unix       -       -      -      -      -         trivial-rewrite
virtual       unix       -       n      -      -      -         virtual
tlsmgr        unix       -       -      -      1000?  1         tlsmgr
bounce        unix       -       -      -      -      0         bounce
defer         unix       -       -      -      -      0         bounce
trace         unix       -       -      -      -      0         bounce
error         unix       -       -      -      -      -         error
retry         unix       -       -      -      -      -         error
`

// settings returns the lines of main.cf. Other settings have the defaults of Postfix, not
// those of the system. https://www.postfix.org/postconf.5.html
func (p postfix) settings(s *site, reader *user.User) []string {
	return []string{
		"compatibility_level = 3.6",
		"queue_directory = " + p.queue(s), "data_directory = " + s.data(),
		"mail_owner = " + mailOwner, "setgid_group = " + mailGroup,
		"maillog_file = /dev/stdout",
		"myhostname = localhost", "inet_interfaces = " + loopback, "inet_protocols = ipv4",
		"smtpd_banner = $myhostname ESMTP $mail_name $mail_version",

		// Every domain is a virtual mailbox domain, and all mailboxes are the same.
		"mydestination =", "mynetworks =", "alias_maps =", "alias_database =",
		"local_recipient_maps =",
		"virtual_mailbox_domains = static:all", "virtual_mailbox_maps = static:" + mailFolder + "/",
		"virtual_mailbox_base = " + s.dir,
		"virtual_uid_maps = static:" + reader.Uid, "virtual_gid_maps = static:" + reader.Gid,
		"virtual_transport = virtual", "local_transport = virtual", "relay_transport = virtual",
		"default_transport = virtual",
		"smtpd_relay_restrictions = reject_unauth_destination",
		"smtpd_recipient_restrictions = check_recipient_access inline:{" +
			"{reject5@ = 550 5.1.1 no such mailbox}, {reject4@ = 450 4.2.1 the mailbox is busy}}",

		// No DNS, no limits that tests reach, and no notifications.
		"smtp_dns_support_level = disabled", "smtp_host_lookup = native",
		"smtpd_peername_lookup = no",
		"smtpd_client_connection_count_limit = 0", "in_flow_delay = 0", "fast_flush_domains =",
		"notify_classes =",

		"smtpd_tls_security_level = may",
		"smtpd_tls_chain_files = " + filepath.Join(s.dir, keyFile) + ", " +
			filepath.Join(s.dir, certificateFile),
	}
}

const mailFolder = "mail"

func (postfix) queue(s *site) string { return filepath.Join(s.dir, "queue") }

func (postfix) maildir(s *site) string { return filepath.Join(s.dir, mailFolder) }

func (postfix) folder(s *site) string { return filepath.Join(s.dir, "etc") }

// configure writes the configuration and creates the directories with their owners: root
// for locks, mailReader for mail, and mailOwner for the others.
func (p postfix) configure(s *site) error {
	reader, err := user.Lookup(mailReader)
	if err != nil {
		return err
	}
	err = errors.Join(os.Chmod(s.dir, 0o711), //nolint:gosec // the services are not root
		folders("", 0o755, p.folder(s), filepath.Join(p.queue(s), "pid")),
		folders(mailOwner, 0o700, s.data()))
	for _, name := range postfixQueues {
		err = errors.Join(err, folders(mailOwner, 0o700, filepath.Join(p.queue(s), name)))
	}
	for _, name := range []string{"tmp", "new", "cur"} {
		err = errors.Join(err,
			folders(mailReader, 0o700, p.maildir(s), filepath.Join(p.maildir(s), name)))
	}
	for name, text := range map[string]string{
		"main.cf":   strings.Join(p.settings(s, reader), "\n") + "\n",
		"master.cf": fmt.Sprintf(services, s.port),
	} {
		err = errors.Join(err, writeAged(filepath.Join(p.folder(s), name), text))
	}
	return err
}

// writeAged writes a file with a modification time of an hour ago. Postfix waits until
// its configuration has not changed for a few seconds.
func writeAged(name, text string) error {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	before := time.Now().Add(-time.Hour)
	return os.Chtimes(name, before, before)
}

// folders creates directories with the given owner; "" keeps the current user.
func folders(owner string, mode os.FileMode, names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(name, mode); err != nil {
			return err
		}
		if owner == "" {
			continue
		}
		if err := changeOwner(name, []string{owner}); err != nil {
			return err
		}
	}
	return nil
}

// killOnExit starts a process that waits for the lock of the group directory. The lock is
// released if the process that started the server exits; the waiting process then
// terminates its process group. The parent-death signal of confine does not reach the
// Postfix master, because the kernel clears it when a process changes its user.
const killOnExit = `(flock "$0" sh -c 'kill -s TERM 0' &); exec "$@"`

func (p postfix) command(s *site) (args []string, input string) {
	lockPath := filepath.Join(filepath.Dir(s.dir), lockFile)
	// -s keeps standard output open
	return []string{"-c", killOnExit, lockPath, s.main, "-s", "-c", p.folder(s)}, ""
}

// probe reads the greeting and sends QUIT.
func (postfix) probe(conn net.Conn, _ *site) error {
	greeting, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(greeting, "220 ") {
		return fmt.Errorf("greeting: %q", greeting)
	}
	_, err = conn.Write([]byte("QUIT\r\n"))
	return err
}

// dsn contains the Maildir and the file of the CA certificate.
func (p postfix) dsn(s *site) string {
	query := url.Values{"maildir": {p.maildir(s)}, "ca": {filepath.Join(s.dir, authorityFile)}}
	return (&url.URL{Scheme: "smtp", Host: s.address(), RawQuery: query.Encode()}).String()
}

func (postfix) discard(context.Context, *site) {}
