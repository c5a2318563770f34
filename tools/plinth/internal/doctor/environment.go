package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// prefixes are those of names that belong to Plinth.
var prefixes = []string{"PLINTH_", "DATABASE_", "NOSQL_", "SNOWFLAKE_"}

// testPrefix is that of variables which only Plinth's own tests read.
const testPrefix = "PLINTH_TEST_"

// VariablesUnknown says what it means that a service does not build.
const VariablesUnknown = "the variables of the service's own packages are not known, only those of Plinth"

// checkEnvironment looks at .env, at every value, and at names that nobody reads.
func (p *patient) checkEnvironment(ctx context.Context) []Finding {
	if p.FileErr != nil {
		return []Finding{problem(p.FileErr.Error(), "make .env readable")}
	}
	var found []Finding
	for _, line := range p.Unclear {
		found = append(found, skipped("%s", line))
	}
	for _, n := range p.File.Bad {
		found = append(found, problem(fmt.Sprintf(".env: line %d is not NAME=value", n),
			"correct the line; put a value with spaces or signs between single quotes"))
	}
	set := 0
	if err := p.VariablesErr; err != nil {
		found = append(found, warning(fmt.Sprintf("%s: %v", VariablesUnknown, err),
			"correct what the go command reports"))
	}
	for _, v := range p.Variables {
		_, origin := p.Value(v)
		if v.Set {
			set++
		}
		if v.Problem != "" {
			found = append(found, problem(v.Problem, "change "+v.Key.String()+" in "+place(origin)))
		}
	}
	found = append(found, p.unknownNames()...)
	found = append(found, p.trackedSecrets(ctx)...)
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Status != Skipped }) {
		return append([]Finding{ok("%d variables are set, and every value is valid", set)},
			found...)
	}
	return found
}

func place(o service.Origin) string {
	switch o {
	case service.FromFile:
		return ".env"
	case service.FromCode:
		return "the code"
	default:
		return "the environment"
	}
}

// unknownNames reports names that look like ours and that nobody reads.
func (p *patient) unknownNames() []Finding {
	known := func(name string) bool {
		return slices.ContainsFunc(p.Variables,
			func(v service.Variable) bool { return v.Key.String() == name })
	}
	misspelled := xenv.Misspelled()
	var found []Finding
	for _, pair := range slices.Sorted(slices.Values(os.Environ())) { // those of .env are among it
		name, _, _ := strings.Cut(pair, "=")
		ours := slices.ContainsFunc(prefixes,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if !ours || known(name) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		_, origin := p.Value(service.Variable{Var: xenv.Var{Key: xenv.EnvKey(name)}, Set: true})
		found = append(found, warning(fmt.Sprintf("Plinth reads no variable %s (in %s)",
			name, place(origin)), p.meant(name, misspelled)))
	}
	return found
}

// meant says which name may be meant by one that nobody reads.
func (p *patient) meant(name string, misspelled []string) string {
	if name == "DATABASE_URL" { // what others call it
		return "did you mean DATABASE_DSN?"
	}
	for _, line := range misspelled {
		if strings.HasPrefix(line, name+" ") {
			_, question, _ := strings.Cut(line, ": ")
			return question
		}
	}
	for _, v := range p.Variables {
		if strings.HasPrefix(name, v.Key.String()) { // DATABASE_PASSWORD
			return fmt.Sprintf("did you mean %s?", v.Key)
		}
	}
	return "see plinth env for the names; ignore this where the application reads it"
}

// trackedSecrets reports a .env with secrets that git keeps.
func (p *patient) trackedSecrets(ctx context.Context) []Finding {
	var secrets []string
	for _, v := range p.Variables {
		if v.Secret && p.File.Values[v.Key.String()] != "" {
			secrets = append(secrets, v.Key.String())
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	if _, err := run(ctx, p.Root, nil, "git", "ls-files", "--error-unmatch", "--",
		".env"); err != nil {
		return nil // not tracked, no repository, or no git
	}
	return []Finding{problem(
		"git tracks .env, which holds "+strings.Join(secrets, ", "),
		"git rm --cached .env, name it in .gitignore, and change the secrets: the history keeps them",
	)}
}

// text returns the value of a variable, or its default.
func text(key xenv.EnvKey) string { return xenv.GetEnvString(key, xenv.Lookup(key).Default) }

// number returns the value of a variable, or its default.
func number(key xenv.EnvKey) int {
	n, _ := strconv.Atoi(xenv.Lookup(key).Default) // a variable without a default is 0
	return xenv.GetEnvInt(key, n)
}

// wrong returns the first of the variables whose value is not accepted, so that nothing
// else is to be said about it.
func (p *patient) wrong(keys ...xenv.EnvKey) string {
	for _, key := range keys {
		if text, set := xenv.GetEnv(key); set && xenv.Lookup(key).Check(text) != nil {
			return key.String()
		}
	}
	return ""
}

// split returns the single lines of a joined error.
func split(err error) []string {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, split(e)...)
		}
		return all
	}
	return []string{err.Error()}
}
