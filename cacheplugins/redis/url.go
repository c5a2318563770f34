package redis

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// forms are the schemes of a URL.
var forms = map[string]form{
	"redis":  {mode: modeSingle, params: []string{"db"}},
	"rediss": {mode: modeSingle, params: []string{"db"}, encrypted: true},
	"unix":   {mode: modeSingle, params: []string{"db"}, socket: true},
	"redis+sentinel": {
		mode:   modeSentinel,
		params: []string{"db", "addr", "sentinel_username", "sentinel_password"},
	},
	"rediss+sentinel": {mode: modeSentinel, params: []string{
		"db", "addr", "sentinel_username",
		"sentinel_password",
	}, encrypted: true},
	"redis+cluster":  {mode: modeCluster, params: []string{"addr"}},
	"rediss+cluster": {mode: modeCluster, params: []string{"addr"}, encrypted: true},
}

type form struct {
	mode      string
	params    []string
	encrypted bool
	socket    bool
}

// What is wrong with a URL. None of it repeats a piece, which may be one of a password
// that is not escaped.
const (
	badScheme   = "has no scheme that is known"
	badEscapes  = "does not parse"
	badDatabase = "has a database that is no number"
	badPath     = "has a path that does not belong there"
	badParam    = "has a parameter that does not belong there"

	schemes  = "redis, rediss, unix, redis+sentinel, rediss+sentinel, redis+cluster, rediss+cluster"
	escaping = "@, /, ?, # and % of a password as %40, %2F, %3F, %23 and %25"
)

func urlProblem(problem, accepted string) error {
	return xenv.Problem(xenv.NoSqlURL, "it", problem, accepted) // the value of a secret is left out
}

// readURL puts the parts of c.URL in the place of the others. It takes the URL apart by
// itself: net/url refuses several hosts, and its errors quote what they are about. The
// only @ that is not escaped stands in front of the hosts, since of a password with
// another character that is special the rest would be taken for something that is shown.
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

// readPath reads what is behind the first slash: a socket, a database, or a master and a
// database.
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
			return urlProblem(badPath, "none, since a cluster has one database")
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

// readParams reads what is behind the question mark.
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
