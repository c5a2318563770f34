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

// postfixKind has no users: the master process stays root, and gives its services the
// rights of others.
var postfixKind = &Kind{
	Name: "postfix", Package: "postfix",
	marker: "daemon started",
	stop:   syscall.SIGTERM, drop: syscall.SIGTERM, // the master hands it on to its services
	engine: postfix{},
}

// postfix is a Postfix that accepts mail for every domain and sends none: it knows no
// service that could. All mail goes into one Maildir.
type postfix struct{}

const (
	mailOwner = "postfix"  // the user that has the queue
	mailGroup = "postdrop" // has to be there, though nothing of it is used
	// the user that mail is delivered as: not root, nor the owner of the queue
	mailReader = "nobody"
)

var (
	postfixFolders = []string{"/usr/sbin", "/usr/local/sbin"}
	postfixQueues  = []string{
		"active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming", "maildrop",
		"private", "public",
		"saved", "trace",
	}
)

func (postfix) find() (programs, error) {
	if runtime.GOOS != "linux" {
		return programs{}, errors.New("a private Postfix is started on Linux only")
	}
	command, err := program([]string{"postfix"}, postfixFolders)
	if err != nil {
		return programs{}, err
	}
	settings, err := beside(command, []string{"postconf"}, postfixFolders)
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	folder, err := exec.CommandContext(ctx, settings, "-d", "-h", "daemon_directory").Output()
	if err != nil {
		return programs{}, fmt.Errorf("%s: %w", settings, err)
	}
	master := filepath.Join(strings.TrimSpace(string(folder)), "master")
	if !executable(master) {
		return programs{}, fmt.Errorf("there is no %s on this machine", master)
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

// services are those of the file master.cf, with the port. None of them opens a
// connection to another server, or has another root folder.
// https://www.postfix.org/master.5.html
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

// settings are the lines of main.cf. Whatever is not there has the default of Postfix,
// not the system's settings. https://www.postfix.org/postconf.5.html
func (p postfix) settings(s *site, reader *user.User) []string {
	return []string{
		"compatibility_level = 3.6",
		"queue_directory = " + p.queue(s), "data_directory = " + s.data(),
		"mail_owner = " + mailOwner, "setgid_group = " + mailGroup,
		"maillog_file = /dev/stdout",
		"myhostname = localhost", "inet_interfaces = " + loopback, "inet_protocols = ipv4",
		"smtpd_banner = $myhostname ESMTP $mail_name $mail_version",

		// Every domain is one of virtual mailboxes, and every mailbox is the same.
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

		// There is no DNS, no limit that tests reach, and no mail about mail.
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

// configure also makes the folders: that of the locks is root's, that of the mail is its
// reader's, the others are the owner's.
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
		err = errors.Join(err, settle(filepath.Join(p.folder(s), name), text))
	}
	return err
}

// settle writes a file that looks an hour old: a Postfix waits until its settings have
// not changed for a second or two.
func settle(name, text string) error {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	before := time.Now().Add(-time.Hour)
	return os.Chtimes(name, before, before)
}

// folders makes folders that belong to the owner; "" is who runs this.
func folders(owner string, mode os.FileMode, names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(name, mode); err != nil {
			return err
		}
		if owner == "" {
			continue
		}
		if err := own(name, []string{owner}); err != nil {
			return err
		}
	}
	return nil
}

// leash makes a process that waits for the lock of the group's folder, which is free when
// the process has died that started the server, and then ends all of its own process
// group. The signal of confine does not reach a master, since the system forgets it when
// a process changes its user for a moment.
const leash = `(flock "$0" sh -c 'kill -s TERM 0' &); exec "$@"`

func (p postfix) command(s *site) (args []string, input string) {
	held := filepath.Join(filepath.Dir(s.dir), lockFile)
	// -s keeps the standard output
	return []string{"-c", leash, held, s.main, "-s", "-c", p.folder(s)}, ""
}

// probe reads the greeting and says goodbye.
func (postfix) probe(conn net.Conn, _ *site) error {
	greeting, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(greeting, "220 ") {
		return fmt.Errorf("the greeting is %q", greeting)
	}
	_, err = conn.Write([]byte("QUIT\r\n"))
	return err
}

// dsn tells where the mail arrives, and who has signed the certificate.
func (p postfix) dsn(s *site) string {
	query := url.Values{"maildir": {p.maildir(s)}, "ca": {filepath.Join(s.dir, authorityFile)}}
	return (&url.URL{Scheme: "smtp", Host: s.address(), RawQuery: query.Encode()}).String()
}

func (postfix) discard(context.Context, *site) {}
