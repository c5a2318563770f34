package redis

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// forms maps the schemes of a URL.
var forms = map[string]form{
	"redis":  {mode: modeSingle, params: []string{"db"}},
	"rediss": {mode: modeSingle, params: []string{"db"}, encrypted: true},
	"unix":   {mode: modeSingle, params: []string{"db"}, socket: true},
	"redis+sentinel": {
		mode:   modeSentinel,
		params: []string{"db", "addr", "sentinel_username", "sentinel_password"},
	},
	"rediss+sentinel": {
		mode:      modeSentinel,
		params:    []string{"db", "addr", "sentinel_username", "sentinel_password"},
		encrypted: true,
	},
	"redis+cluster":  {mode: modeCluster, params: []string{"addr"}},
	"rediss+cluster": {mode: modeCluster, params: []string{"addr"}, encrypted: true},
}

type form struct {
	mode      string
	params    []string
	encrypted bool
	socket    bool
}

// Problems of a URL. The messages do not repeat parts of it, which may belong to a
// password with unescaped characters.
const (
	badScheme   = "has an unknown scheme"
	badEscapes  = "does not parse"
	badDatabase = "has a database that is not a number"
	badPath     = "has an invalid path"
	badParam    = "has an unknown parameter"

	schemes  = "redis, rediss, unix, redis+sentinel, rediss+sentinel, redis+cluster, rediss+cluster"
	escaping = "@, /, ?, # and % of a password as %40, %2F, %3F, %23 and %25"
)

func urlProblem(problem, accepted string) error {
	// NOSQL_URL is secret, so xenv prints "the value" instead of "it"
	return xenv.Problem(xenv.NoSqlURL, "it", problem, accepted)
}

// readURL replaces the other settings with the parts of c.URL. It does not use net/url,
// which rejects several hosts and quotes the input in errors. The only unescaped @ must
// precede the hosts, because otherwise a part of an unescaped password could be logged as
// a host.
func (c *settings) readURL() error {
	scheme, rest, _ := strings.Cut(c.URL, "://")
	f, known := forms[strings.ToLower(scheme)]
	if !known {
		return urlProblem(badScheme, schemes)
	}
	rest, query, _ := strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	if strings.Contains(rest+query, "#") || strings.Contains(path+query, "@") {
		return urlProblem(badEscapes, escaping)
	}
	c.Host, c.Port, c.User, c.Pass, c.Database, c.Mode, c.Master = hosts, 0, "", "", 0, f.mode, ""
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		user, pass, _ := strings.Cut(hosts[:at], ":")
		var err1, err2 error
		c.User, err1 = url.PathUnescape(user)
		c.Pass, err2 = url.PathUnescape(pass)
		if err1 != nil || err2 != nil {
			return urlProblem(badEscapes, escaping)
		}
		c.Host = hosts[at+1:]
	}
	if f.encrypted && (c.TLS == "" || c.TLS == driver.TLSDisable) {
		c.TLS = driver.TLSVerifyFull
	}
	if err := c.readPath(f, path); err != nil {
		return err
	}
	return c.readParams(f, query)
}

// readPath parses the path: a socket, a database, or a master and a database.
func (c *settings) readPath(f form, path string) error {
	var err error
	if f.socket {
		if c.Host != "" || path == "" {
			return urlProblem(badPath, "unix:///path/of/the/socket")
		}
		if c.Host, err = url.PathUnescape("/" + path); err != nil {
			return urlProblem(badEscapes, escaping)
		}
		return nil
	}
	database := path
	switch f.mode {
	case modeSentinel:
		path, database, _ = strings.Cut(path, "/")
		if c.Master, err = url.PathUnescape(path); err != nil {
			return urlProblem(badEscapes, escaping)
		}
	case modeCluster:
		if path != "" && path != "0" {
			return urlProblem(badPath, "no path: a cluster has one database")
		}
	}
	return readDatabase(c, strings.TrimSuffix(database, "/"))
}

func readDatabase(c *settings, text string) (err error) {
	if text == "" {
		return nil
	}
	if c.Database, err = strconv.Atoi(text); err != nil {
		return urlProblem(badDatabase, "")
	}
	return nil
}

// readParams parses the query.
func (c *settings) readParams(f form, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return urlProblem(badEscapes, escaping)
	}
	for _, name := range f.params {
		for _, value := range values[name] {
			switch name {
			case "db":
				if err := readDatabase(c, value); err != nil {
					return err
				}
			case "addr":
				c.Host += "," + value
			case "sentinel_username":
				c.SentinelUser = value
			case "sentinel_password":
				c.SentinelPass = value
			}
		}
		delete(values, name)
	}
	if len(values) > 0 {
		return urlProblem(badParam, strings.Join(f.params, ", "))
	}
	return nil
}
