// Package stack gives tests their servers: those whose connection strings stand in the
// environment, and private ones for the kinds that are missing there. Tests find both in
// the variables of Env.
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

// Private is how the table of suites calls servers that were started here.
const Private = "private server"

// Stack is the servers of one run.
type Stack struct {
	rows    []row
	group   *server.Group
	control *control // nil: there is one already, or nothing to control
	given   Environment
}

// row is what the stack says of one kind.
type row struct {
	kind    *server.Kind
	given   string          // the connection string in the environment
	address string          // of the server that is given
	silent  bool            // that server does not answer
	private *server.Server  // that was started
	missing *server.Missing // why there is none
}

// Environment looks up a variable.
type Environment func(name string) string

// Start finds or starts a server of each kind. One that is not on the machine is no
// error, and neither is one that does not answer: the table says so. A connection string
// that does not parse is one. Close has to be called without an error.
func Start(ctx context.Context, env Environment, kinds []*server.Kind) (*Stack, error) {
	group, err := server.NewGroup(ctx)
	if err != nil {
		return nil, err
	}
	s := &Stack{group: group, given: env, rows: make([]row, len(kinds))}
	problems := make([]error, len(kinds))
	var all sync.WaitGroup
	for i, kind := range kinds {
		s.rows[i] = row{kind: kind, given: env(dsnVariable(kind))}
		if s.rows[i].given == "" {
			all.Go(func() { problems[i] = s.rows[i].start(ctx, group) })
		} else {
			all.Go(func() { problems[i] = s.rows[i].dial(ctx) })
		}
	}
	all.Wait()
	if env(controlVariable) == "" && s.private() {
		s.control, err = serve(ctx, s)
	}
	if err := errors.Join(errors.Join(problems...), err, s.trust()); err != nil {
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

// trust adds the certificates that the environment names to the group's own.
func (s *Stack) trust() error {
	name := s.given(caVariable)
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

// Env returns what to add to a command's environment, as NAME=value.
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
	if s.private() && s.trusted() {
		env = append(env, caVariable+"="+s.group.CA())
	}
	if s.control != nil {
		env = append(env, controlVariable+"="+s.control.url)
	}
	return env
}

// private reports whether a server was started here.
func (s *Stack) private() bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return r.private != nil })
}

// trusted reports whether the file of certificates holds for every server. It does not
// where the environment gives a server and not its authority: tests would then refuse
// that server.
func (s *Stack) trusted() bool {
	return s.given(caVariable) != "" ||
		!slices.ContainsFunc(s.rows, func(r row) bool { return r.given != "" })
}

// Packages returns the Debian packages of those kinds that have no server, neither in the
// environment nor on the machine, and would have one with the package.
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

// Missing returns an error that names those of the required kinds that have no server, or
// one that does not answer.
func (s *Stack) Missing(required []string) error {
	var problems []error
	for _, r := range s.rows {
		switch {
		case !slices.Contains(required, r.kind.Name):
		case r.missing != nil:
			problems = append(problems, fmt.Errorf("%s is required: %s is not set, and %w",
				r.kind.Name, dsnVariable(r.kind), r.missing))
		case r.silent:
			problems = append(problems, fmt.Errorf("%s is required: no answer from %s of %s",
				r.kind.Name, r.address, dsnVariable(r.kind)))
		}
	}
	return errors.Join(problems...)
}

// Close stops what was started, also when ctx has ended.
func (s *Stack) Close(ctx context.Context) error {
	var err error
	if s.control != nil {
		err = s.control.close()
	}
	return errors.Join(err, s.group.Close(ctx))
}

// dsnVariable is the one that holds the kind's connection string.
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
		name = "smtp" // any mail server may be given
	}
	return "PLINTH_TEST_" + strings.ToUpper(name) + "_" + what
}

// Shell returns assignments of env that a shell can read.
func Shell(env []string) string {
	var b strings.Builder
	for _, assignment := range env {
		name, value, _ := strings.Cut(assignment, "=")
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return b.String()
}

// Choose returns the kinds that are named in only, or all. Names are separated by commas.
func Choose(only string) ([]*server.Kind, error) {
	var kinds []*server.Kind
	for name := range strings.SplitSeq(only, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		kind, ok := server.ByName(name)
		if !ok {
			return nil, fmt.Errorf("there is no kind of server %q", name)
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 {
		return server.Kinds(), nil
	}
	return kinds, nil
}
