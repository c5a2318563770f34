// Package stack provides servers for tests: those of the environment, and private servers
// for the other kinds. Env returns variables with their connection strings.
package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/tools/devstack/server"
)

const (
	controlVariable = "PLINTH_TEST_CONTROL"
	caVariable      = "PLINTH_TEST_TLS_CA"
)

// Private is the source of private servers in tables of suites.
const Private = "private server"

// Stack is the set of servers of a run.
type Stack struct {
	rows    []row
	group   *server.Group
	control *control // nil if the environment has an endpoint, or no private server runs
	env     Environment
}

// row is the state of a kind.
type row struct {
	kind    *server.Kind
	dsn     string          // connection string of the environment, or ""
	address string          // address in dsn
	silent  bool            // the server at address does not respond
	private *server.Server  // private server, or nil
	missing *server.Missing // reason for no server
}

// Environment returns the value of a variable.
type Environment func(name string) string

// Start finds or starts a server of each kind. Servers that are not installed or do not
// respond are reported in the table, not as errors. An invalid connection string is an
// error. If Start succeeds, the caller must call Close.
func Start(ctx context.Context, env Environment, kinds []*server.Kind) (*Stack, error) {
	group, err := server.NewGroup(ctx)
	if err != nil {
		return nil, err
	}
	s := &Stack{group: group, env: env, rows: make([]row, len(kinds))}
	problems := make([]error, len(kinds))
	var all sync.WaitGroup
	for i, kind := range kinds {
		s.rows[i] = row{kind: kind, dsn: env(dsnVariable(kind))}
		if s.rows[i].dsn == "" {
			all.Go(func() { problems[i] = s.rows[i].start(ctx, group) })
		} else {
			all.Go(func() { problems[i] = s.rows[i].dial(ctx) })
		}
	}
	all.Wait()
	if env(controlVariable) == "" && s.private() {
		s.control, err = serve(ctx, s)
	}
	if err := errors.Join(errors.Join(problems...), err, s.addCAs()); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// start starts a private server.
func (r *row) start(ctx context.Context, group *server.Group) error {
	started, err := group.Start(ctx, r.kind)
	if errors.As(err, &r.missing) {
		return nil
	}
	r.private = started
	return err
}

// addCAs adds the certificates of the environment to the CA file of the group.
func (s *Stack) addCAs() error {
	name := s.env(caVariable)
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("%s: %w", caVariable, err)
	}
	file, err := os.OpenFile(s.group.CA(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(slices.Concat([]byte("\n"), text))
	return errors.Join(err, file.Close())
}

// Env returns additional variables for a command, as NAME=value.
func (s *Stack) Env() []string {
	var env []string
	for _, r := range s.rows {
		if r.private != nil {
			env = append(env, dsnVariable(r.kind)+"="+r.private.DSN(),
				variable(r.kind, "SOURCE")+"="+Private)
			if dsn := r.private.TLSDSN(); dsn != "" {
				env = append(env, variable(r.kind, "TLS_URL")+"="+dsn)
			}
		}
	}
	if s.private() && s.isCAComplete() {
		env = append(env, caVariable+"="+s.group.CA())
	}
	if s.control != nil {
		env = append(env, controlVariable+"="+s.control.url)
	}
	return env
}

// private reports whether the stack started a server.
func (s *Stack) private() bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return r.private != nil })
}

// isCAComplete reports whether the CA file is valid for all servers. It returns false if
// the environment provides a server without its CA, because tests would reject the
// certificate of that server.
func (s *Stack) isCAComplete() bool {
	return s.env(caVariable) != "" ||
		!slices.ContainsFunc(s.rows, func(r row) bool { return r.dsn != "" })
}

// Packages returns the Debian packages of kinds that have no server in the environment
// and are not installed.
func Packages(env Environment, kinds []*server.Kind) []string {
	var packages []string
	for _, k := range kinds {
		missing := (*server.Missing)(nil)
		if env(dsnVariable(k)) == "" && errors.As(k.Look(), &missing) && !missing.Root {
			packages = append(packages, k.Package)
		}
	}
	return packages
}

// Missing returns an error that lists the required kinds without a server or with a
// server that does not respond.
func (s *Stack) Missing(required []string) error {
	var problems []error
	for _, r := range s.rows {
		switch {
		case !slices.Contains(required, r.kind.Name):
		case r.missing != nil:
			problems = append(problems, fmt.Errorf("%s is required, but %s is not set: %w",
				r.kind.Name, dsnVariable(r.kind), r.missing))
		case r.silent:
			problems = append(problems, fmt.Errorf("%s is required, but %s of %s does not respond",
				r.kind.Name, r.address, dsnVariable(r.kind)))
		}
	}
	return errors.Join(problems...)
}

// Close stops the private servers, even if ctx is canceled.
func (s *Stack) Close(ctx context.Context) error {
	var err error
	if s.control != nil {
		err = s.control.close()
	}
	return errors.Join(err, s.group.Close(ctx))
}

// dsnVariable returns the name of the variable with the connection string.
func dsnVariable(kind *server.Kind) string {
	switch kind.Name {
	case "redis", "postfix":
		return variable(kind, "URL")
	default:
		return variable(kind, "DSN")
	}
}

func variable(kind *server.Kind, what string) string {
	name := kind.Name
	if name == "postfix" {
		name = "smtp" // may be any mail server
	}
	return "PLINTH_TEST_" + strings.ToUpper(name) + "_" + what
}

// Shell returns env as export statements of a shell.
func Shell(env []string) string {
	var b strings.Builder
	for _, assignment := range env {
		name, value, _ := strings.Cut(assignment, "=")
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return b.String()
}

// Choose returns the kinds in a comma-separated list, or all kinds if it is empty.
func Choose(only string) ([]*server.Kind, error) {
	var kinds []*server.Kind
	for name := range strings.SplitSeq(only, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		kind, ok := server.ByName(name)
		if !ok {
			return nil, fmt.Errorf("unknown kind of server %q", name)
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 {
		return server.Kinds(), nil
	}
	return kinds, nil
}
