package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// EnvExample writes .env.example: first what the choices set, then everything else that the service reads.
func EnvExample(s *Service) string {
	var b strings.Builder
	b.WriteString("# What the service reads from the environment")
	if s.NeedsEnv() {
		b.WriteString(". `make run` makes .env of it")
	} else {
		b.WriteString(": copy the lines that you change into .env")
	}
	b.WriteString(". The real environment always wins.\n\n")
	set := s.LocalEnv()
	for _, v := range xenv.Table() {
		if value, ok := valueOf(set, v.Key); ok {
			fmt.Fprintf(&b, "# %s\n%s=%s\n", v.Meaning, v.Key, value)
		}
	}
	b.WriteString(rest(s, set))
	return strings.ReplaceAll(b.String(), "\n\n\n", "\n\n")
}

// rest are the variables that the choices leave alone, with their defaults.
func rest(s *Service, set []catalog.Value) string {
	var b strings.Builder
	group := ""
	for _, v := range xenv.Table() {
		if _, ok := valueOf(set, v.Key); ok || !s.reads(v) {
			continue
		}
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(&b, "\n## %s\n\n", group)
		}
		fmt.Fprintf(&b, "# %s\n", v.Meaning)
		if len(v.Values) > 0 {
			fmt.Fprintf(&b, "# Accepted: %s.\n", v.Accepted())
		}
		fmt.Fprintf(&b, "# %s=%s\n", v.Key, defaultOf(s, v))
	}
	return b.String()
}

// defaultOf returns what holds where nobody sets the variable.
func defaultOf(s *Service, v xenv.Var) string {
	for _, d := range s.Defaults() {
		if d.Key == v.Key.String() {
			return d.Value.Value
		}
	}
	return v.Default
}

func valueOf(values []catalog.Value, key xenv.EnvKey) (string, bool) {
	i := slices.IndexFunc(values, func(v catalog.Value) bool { return v.Key == key.String() })
	if i < 0 {
		return "", false
	}
	return values[i].Value, true
}

// Where the packages of the project are.
const (
	root  = "github.com/plinthgo/plinth/"
	cores = root + "core/"
)

// reads reports whether anything in the service reads the variable.
func (s *Service) reads(v xenv.Var) bool {
	return slices.ContainsFunc(v.Packages, func(path string) bool {
		switch {
		case strings.HasPrefix(path, cores+"major/xdb"):
			return readBy(v, s.DB)
		case strings.HasPrefix(path, cores+"major/xcache"):
			return readBy(v, s.Cache)
		case strings.HasPrefix(path, cores):
			return true
		case strings.HasPrefix(path, root+"grpcx/"):
			return s.GRPC
		case strings.HasPrefix(path, root+"notifyx/email"):
			return s.Mail
		case v.Key == "DATABASE_LIB_DIR": // which says itself that it is ignored
			return false
		default:
			return s.DB != nil && path == root+"dbplugins/"+s.DB.Name || s.Cache != nil && path == root+"cacheplugins/"+s.Cache.Name
		}
	})
}

// ofServers are the variables that say where a server is. A backend without a server has no use for them.
var ofServers = []xenv.EnvKey{
	xenv.DatabaseDsn, xenv.DatabaseHost, xenv.DatabasePort, xenv.DatabaseUser, xenv.DatabasePass, xenv.DatabaseName,
	xenv.DatabaseTLS, xenv.DatabaseTLSCA, "DATABASE_CONNECT_TIMEOUT", "NOSQL_CONNECT_TIMEOUT",
	xenv.NoSqlURL, xenv.NoSqlHost, xenv.NoSqlPort, xenv.NoSqlUser, xenv.NoSqlPass, xenv.NoSqlDatabase, xenv.NoSqlPoolSize,
	xenv.NoSqlTLS, xenv.NoSqlTLSCA, "NOSQL_NEAR_MAX_ENTRIES", "NOSQL_NEAR_TTL",
}

// readBy reports whether a backend, or the code around it, reads a variable that all of them share.
func readBy(v xenv.Var, b *catalog.Backend) bool {
	return b != nil && (b.Server() || !slices.Contains(ofServers, v.Key))
}
