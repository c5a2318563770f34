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

// prefixes are the name prefixes that Plinth reserves.
var prefixes = []string{"PLINTH_", "DATABASE_", "NOSQL_", "SNOWFLAKE_"}

// testPrefix is the prefix of variables that only the tests of Plinth read.
const testPrefix = "PLINTH_TEST_"

// VariablesUnknown is the warning for a service that does not build.
const VariablesUnknown = "cannot list the variables of the service; only those of Plinth are listed"

// checkEnvironment checks .env, every value, and the names of variables.
func (p *target) checkEnvironment(ctx context.Context) []Finding {
	if p.FileErr != nil {
		return []Finding{problem(p.FileErr.Error(), "make .env readable")}
	}
	var found []Finding
	for _, line := range p.Unclear {
		found = append(found, skipped("%s", line))
	}
	for _, n := range p.File.Bad {
		found = append(found, problem(fmt.Sprintf(".env: line %d is not NAME=value", n),
			"correct the line; put values with spaces or special characters in single quotes"))
	}
	set := 0
	if err := p.VariablesErr; err != nil {
		found = append(found, warning(fmt.Sprintf("%s: %v", VariablesUnknown, err),
			"fix the errors of the go command"))
	}
	for _, v := range p.Variables {
		_, origin := p.Value(v)
		if v.Set {
			set++
		}
		if v.Problem != "" {
			found = append(found,
				problem(v.Problem, "change "+v.Key.String()+" in "+originName(origin)))
		}
	}
	found = append(found, p.unknownNames()...)
	found = append(found, p.trackedSecrets(ctx)...)
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Status != Skipped }) {
		return append([]Finding{ok("%d variables are set, all values are valid", set)}, found...)
	}
	return found
}

func originName(o service.Origin) string {
	switch o {
	case service.FromFile:
		return ".env"
	case service.FromCode:
		return "the code"
	default:
		return "the environment"
	}
}

// unknownNames reports variables with a reserved prefix that no package reads.
func (p *target) unknownNames() []Finding {
	known := func(name string) bool {
		return slices.ContainsFunc(p.Variables,
			func(v service.Variable) bool { return v.Key.String() == name })
	}
	misspelled := xenv.Misspelled()
	var found []Finding
	// includes the variables of .env
	for _, pair := range slices.Sorted(slices.Values(os.Environ())) {
		name, _, _ := strings.Cut(pair, "=")
		isReserved := slices.ContainsFunc(prefixes,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if !isReserved || known(name) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		_, origin := p.Value(service.Variable{Var: xenv.Var{Key: xenv.EnvKey(name)}, Set: true})
		found = append(found, warning(fmt.Sprintf("unknown variable %s (in %s)",
			name, originName(origin)), p.suggestion(name, misspelled)))
	}
	return found
}

// suggestion returns the fix for an unknown variable.
func (p *target) suggestion(name string, misspelled []string) string {
	if name == "DATABASE_URL" { // a common name in other frameworks
		return "did you mean DATABASE_DSN?"
	}
	for _, line := range misspelled {
		if strings.HasPrefix(line, name+" ") {
			_, question, _ := strings.Cut(line, ": ")
			return question
		}
	}
	for _, v := range p.Variables {
		if strings.HasPrefix(name, v.Key.String()) { // such as DATABASE_PASSWORD
			return fmt.Sprintf("did you mean %s?", v.Key)
		}
	}
	return "run plinth env for the names; ignore this if the application reads the variable"
}

// trackedSecrets reports a .env with secrets that git tracks.
func (p *target) trackedSecrets(ctx context.Context) []Finding {
	var secrets []string
	for _, v := range p.Variables {
		if v.Secret && p.File.Values[v.Key.String()] != "" {
			secrets = append(secrets, v.Key.String())
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	_, err := run(ctx, p.Root, nil, "git", "ls-files", "--error-unmatch", "--", ".env")
	if err != nil {
		return nil // not tracked, no repository, or no git
	}
	return []Finding{problem(
		"git tracks .env, which contains "+strings.Join(secrets, ", "),
		"run git rm --cached .env, add it to .gitignore, and change the secrets, because the history contains them",
	)}
}

// text returns the value of a variable, or its default.
func text(key xenv.EnvKey) string { return xenv.GetEnvString(key, xenv.Lookup(key).Default) }

// number returns the value of a variable, or its default.
func number(key xenv.EnvKey) int {
	n, _ := strconv.Atoi(xenv.Lookup(key).Default) // 0 without a default
	return xenv.GetEnvInt(key, n)
}

// invalid returns the first of the variables whose value is not accepted, or "".
func (p *target) invalid(keys ...xenv.EnvKey) string {
	for _, key := range keys {
		if text, set := xenv.GetEnv(key); set && xenv.Lookup(key).Check(text) != nil {
			return key.String()
		}
	}
	return ""
}

// split returns the errors of a joined error.
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
