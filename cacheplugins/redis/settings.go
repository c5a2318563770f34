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

// variables contains the variables that only this driver reads.
type variables struct {
	Mode         string `env:"NOSQL_MODE" default:"single" oneof:"single sentinel cluster" doc:"Topology of the servers at NOSQL_HOST."`
	Master       string `env:"NOSQL_MASTER" doc:"Name of the master in Sentinel."`
	SentinelUser string `env:"NOSQL_SENTINEL_USER" doc:"User name for Sentinel."`
	SentinelPass string `env:"NOSQL_SENTINEL_PASS" secret:"true" doc:"Password for Sentinel."`
}

const (
	modeKey         xenv.EnvKey = "NOSQL_MODE"
	masterKey       xenv.EnvKey = "NOSQL_MASTER"
	sentinelUserKey xenv.EnvKey = "NOSQL_SENTINEL_USER"
	sentinelPassKey xenv.EnvKey = "NOSQL_SENTINEL_PASS" //nolint:gosec // name of a variable, not a secret
)

// The values of NOSQL_MODE.
const (
	modeSingle = "single" // one server
	// a master with replicas; Host lists the sentinels
	modeSentinel = "sentinel"
	modeCluster  = "cluster" // Host lists some of the servers
)

// settings is a validated Config.
type settings struct {
	driver.Config
	variables
	addresses []string // with ports, or the path of a socket
	tlsMode   string
	tls       *tls.Config // nil without TLS
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
	var varsErr error
	k.variables, varsErr = xenv.Load[variables](c.Source)
	parsed := true
	if k.fromURL {
		varsErr = nil // the URL replaces these variables
		if err := k.readURL(); err != nil {
			k.problems = append(k.problems, err)
			parsed = false
		}
	}
	if varsErr != nil {
		k.problems = append(k.problems, varsErr)
	}
	if parsed {
		k.checkMode()
		k.checkNumbers()
		k.checkUsers()
		k.checkAddresses()
	}
	k.checkTLS()
	if n := k.PoolSize; n < 0 || n > maxPoolSize {
		k.problem(xenv.NoSqlPoolSize, strconv.Itoa(n), "is not a valid pool size",
			"1 to "+strconv.Itoa(maxPoolSize))
	}
	if err := errors.Join(k.problems...); err != nil {
		return nil, err
	}
	return &k.settings, nil
}

// replacedByURL contains the variables that a URL replaces.
var replacedByURL = map[xenv.EnvKey]bool{
	xenv.NoSqlHost: true, xenv.NoSqlPort: true, xenv.NoSqlUser: true, xenv.NoSqlPass: true,
	xenv.NoSqlDatabase: true, modeKey: true, masterKey: true,
}

// problem adds a problem of a variable, or of the part of the URL that replaces it.
func (k *checker) problem(key xenv.EnvKey, value, problem, accepted string) {
	if k.fromURL && replacedByURL[key] {
		key, problem = xenv.NoSqlURL, "has a part that "+problem+" ("+string(key)+")"
	}
	k.problems = append(k.problems, xenv.Problem(key, value, problem, accepted))
}

func (k *checker) checkMode() {
	if k.Mode == modeSentinel {
		if k.Master == "" {
			k.problem(masterKey, "", "is not set", "the name of the master in Sentinel")
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
				"is only used if "+string(modeKey)+" is "+modeSentinel, "")
		}
	}
}

func (k *checker) checkNumbers() {
	if k.Port < 0 || k.Port > maxPort {
		k.problem(xenv.NoSqlPort, strconv.Itoa(k.Port), "is not a valid port",
			"1 to "+strconv.Itoa(maxPort))
	}
	switch {
	case k.Database < 0:
		k.problem(xenv.NoSqlDatabase, strconv.Itoa(k.Database),
			"is not a valid database", "0 or more")
	case k.Database > 0 && k.Mode == modeCluster:
		k.problem(xenv.NoSqlDatabase, strconv.Itoa(k.Database),
			"is not supported in a cluster", "0")
	}
}

// checkUsers rejects a user without a password, because the client would connect as the
// default user.
func (k *checker) checkUsers() {
	if k.User != "" && k.Pass == "" {
		k.problem(xenv.NoSqlPass, "", "is not set, but a user is", "")
	}
	if k.SentinelUser != "" && k.SentinelPass == "" {
		k.problem(sentinelPassKey, "", "is not set, but a user is", "")
	}
}

func (k *checker) checkAddresses() {
	host := cmp.Or(strings.TrimSpace(k.Host), "localhost")
	if socket(host) {
		if k.Mode != modeSingle {
			k.problem(xenv.NoSqlHost, host,
				"is a Unix socket, which requires NOSQL_MODE single", "")
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
			k.problem(xenv.NoSqlHost, item, "is not a valid host",
				"a name or an address, optionally with a port; several separated by commas")
		}
		k.addresses = append(k.addresses, address)
	}
	if k.Mode == modeSingle && len(k.addresses) > 1 {
		k.problem(xenv.NoSqlHost, host, "is more than one host",
			"one host, unless "+string(modeKey)+" is "+modeSentinel+" or "+modeCluster)
	}
}

// socket reports whether host is the path of a Unix socket.
func socket(host string) bool { return strings.HasPrefix(host, "/") }

// addressOf returns text with the port, unless text has a port. ok is false if text is
// not valid.
func addressOf(text, port string) (address string, ok bool) {
	host := text
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if _, err := netip.ParseAddr(bare); err == nil {
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
		k.problem(xenv.NoSqlTLS, mode, "is not supported for a Unix socket", driver.TLSDisable)
	}
	k.tlsMode = mode
	if k.tls, err = driver.TLSConfig(mode, k.TLSCA, ""); err != nil {
		k.problems = append(k.problems, err)
	}
}
