package redis

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

const (
	serverPort   = 6379
	sentinelPort = 26379
	maxPort      = 65535

	defaultPoolSize = 10
	maxPoolSize     = maxPort // of connections from one address to one server
)

func init() { xenv.Register[variables]("Cache: Redis") }

// variables are those of this driver alone.
type variables struct {
	Mode         string `env:"NOSQL_MODE" default:"single" oneof:"single sentinel cluster" doc:"How the servers at the host belong together."`
	Master       string `env:"NOSQL_MASTER" doc:"Name under which the sentinels know the servers."`
	SentinelUser string `env:"NOSQL_SENTINEL_USER" doc:"User for the sentinels themselves."`
	SentinelPass string `env:"NOSQL_SENTINEL_PASS" secret:"true" doc:"Password for the sentinels themselves."`
}

const (
	modeKey         xenv.EnvKey = "NOSQL_MODE"
	masterKey       xenv.EnvKey = "NOSQL_MASTER"
	sentinelUserKey xenv.EnvKey = "NOSQL_SENTINEL_USER"
	sentinelPassKey xenv.EnvKey = "NOSQL_SENTINEL_PASS" //nolint:gosec // the name of a variable, no secret
)

// The values of NOSQL_MODE.
const (
	modeSingle = "single" // one server
	// a server with replicas, of which the sentinels at Host know which one is written to
	modeSentinel = "sentinel"
	modeCluster  = "cluster" // spreads the keys over its servers; those at Host know the others
)

// settings are a Config without a problem.
type settings struct {
	driver.Config
	variables
	addresses []string // with their ports; of a single server it may be the path of a socket
	tlsMode   string
	tls       *tls.Config // nil where nothing is encrypted
}

// checker collects the problems of a Config.
type checker struct {
	settings
	fromURL  bool
	problems []error
}

// parse returns the settings of c, or all its problems.
func parse(c driver.Config) (*settings, error) {
	k := checker{settings: settings{Config: c}, fromURL: c.URL != ""}
	var ownErr error
	k.variables, ownErr = xenv.Load[variables](c.Source)
	parts := true
	if k.fromURL {
		ownErr = nil // the URL replaces them
		if err := k.readURL(); err != nil {
			k.problems = append(k.problems, err)
			parts = false // there are none
		}
	}
	if ownErr != nil {
		k.problems = append(k.problems, ownErr)
	}
	if parts {
		k.checkMode()
		k.checkNumbers()
		k.checkUsers()
		k.checkAddresses()
	}
	k.checkTLS()
	if n := k.PoolSize; n < 0 || n > maxPoolSize {
		k.problem(xenv.NoSqlPoolSize, strconv.Itoa(n), "is no size of a pool",
			"1 to "+strconv.Itoa(maxPoolSize))
	}
	if err := errors.Join(k.problems...); err != nil {
		return nil, err
	}
	return &k.settings, nil
}

// replaced are the variables in whose place a URL stands.
var replaced = map[xenv.EnvKey]bool{
	xenv.NoSqlHost: true, xenv.NoSqlPort: true, xenv.NoSqlUser: true, xenv.NoSqlPass: true,
	xenv.NoSqlDatabase: true,
	modeKey:            true, masterKey: true,
}

// problem notes what is wrong with a variable, or with the part of the URL that replaces
// it.
func (k *checker) problem(key xenv.EnvKey, value, problem, accepted string) {
	if k.fromURL && replaced[key] {
		key, problem = xenv.NoSqlURL, "has a part that "+problem+" ("+string(key)+")"
	}
	k.problems = append(k.problems, xenv.Problem(key, value, problem, accepted))
}

func (k *checker) checkMode() {
	if k.Mode == modeSentinel {
		if k.Master == "" {
			k.problem(masterKey, "", "is not set",
				"the name under which the sentinels know the servers")
		}
		return
	}
	for _, part := range []struct {
		key   xenv.EnvKey
		value string
	}{
		{masterKey, k.Master},
		{sentinelUserKey, k.SentinelUser},
		{sentinelPassKey, k.SentinelPass},
	} {
		if part.value != "" {
			k.problem(part.key, part.value,
				"is only used where "+string(modeKey)+" is "+modeSentinel, "")
		}
	}
}

func (k *checker) checkNumbers() {
	if k.Port < 0 || k.Port > maxPort {
		k.problem(xenv.NoSqlPort, strconv.Itoa(k.Port), "is no port", "1 to "+strconv.Itoa(maxPort))
	}
	switch {
	case k.Database < 0:
		k.problem(xenv.NoSqlDatabase, strconv.Itoa(k.Database), "is no database", "0 and more")
	case k.Database > 0 && k.Mode == modeCluster:
		k.problem(xenv.NoSqlDatabase, strconv.Itoa(k.Database), "is not possible in a cluster", "0")
	}
}

// checkUsers refuses a user without a password: the client would not tell the server of
// it, and would be someone else.
func (k *checker) checkUsers() {
	if k.User != "" && k.Pass == "" {
		k.problem(xenv.NoSqlPass, "", "is not set, though there is a user", "")
	}
	if k.SentinelUser != "" && k.SentinelPass == "" {
		k.problem(sentinelPassKey, "", "is not set, though there is a user", "")
	}
}

func (k *checker) checkAddresses() {
	host := cmp.Or(strings.TrimSpace(k.Host), "localhost")
	if socket(host) {
		if k.Mode != modeSingle {
			k.problem(xenv.NoSqlHost, host, "is a Unix socket, which is one server", "")
		}
		k.addresses = []string{host}
		return
	}
	port := cmp.Or(k.Port, serverPort)
	if k.Mode == modeSentinel {
		port = cmp.Or(k.Port, sentinelPort)
	}
	for item := range strings.SplitSeq(host, ",") {
		item = strings.TrimSpace(item)
		address, ok := addressOf(item, strconv.Itoa(port))
		if !ok {
			if strings.Contains(item, "@") {
				item = "" // it may be a URL with a password
			}
			k.problem(xenv.NoSqlHost, item, "is no host",
				"a name or an address, also with a port, and several of them with commas between")
		}
		k.addresses = append(k.addresses, address)
	}
	if k.Mode == modeSingle && len(k.addresses) > 1 {
		k.problem(xenv.NoSqlHost, host, "is more than one host",
			"one, unless "+string(modeKey)+" is "+modeSentinel+" or "+modeCluster)
	}
}

// socket reports whether a host is the path of a Unix socket.
func socket(host string) bool { return strings.HasPrefix(host, "/") }

// addressOf returns a host with its port, or with the default one.
func addressOf(text, port string) (address string, ok bool) {
	host := text
	if _, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["),
		"]")); err == nil {
		host = strings.Trim(text, "[]")
	} else if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return "", false
		}
	}
	if _, err := netip.ParseAddr(host); err != nil &&
		(host == "" || strings.ContainsAny(host, `:@/?#%[]\ `+"\t\r\n\x00")) {
		return "", false
	}
	return net.JoinHostPort(host, port), true
}

func (k *checker) checkTLS() {
	mode, err := k.TLSMode()
	if err != nil {
		k.problems = append(k.problems, err)
		return
	}
	if mode != driver.TLSDisable && socket(k.Host) {
		k.problem(xenv.NoSqlTLS, mode, "is not possible through a Unix socket", driver.TLSDisable)
	}
	k.tlsMode = mode
	if k.tls, err = driver.TLSConfig(mode, k.TLSCA, ""); err != nil {
		k.problems = append(k.problems, err)
	}
}
