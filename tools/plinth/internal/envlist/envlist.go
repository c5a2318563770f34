// Package envlist lists the variables that Plinth reads, with their values and sources.
// Its output contains no secrets.
package envlist

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xdotenv"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/envtable"
	"github.com/plinthgo/plinth/tools/plinth/internal/redact"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// mask replaces a secret.
const mask = "***"

// Row is a variable with its value in the service.
type Row struct {
	Name     string         `json:"name"`
	Group    string         `json:"group"`
	Type     string         `json:"type"`
	Default  string         `json:"default"`
	Accepted string         `json:"accepted"`
	Values   []string       `json:"values,omitempty"`
	Meaning  string         `json:"meaning"`
	Packages []string       `json:"packages"`
	Secret   bool           `json:"secret"`
	Value    string         `json:"value"`
	Source   service.Origin `json:"source"`
	Problem  string         `json:"problem,omitempty"`

	v      xenv.Var
	hidden bool // Value is masked
}

// IsSet reports whether the value is not the default.
func (r Row) IsSet() bool {
	return r.Source == service.FromEnvironment || r.Source == service.FromFile ||
		r.Source == service.FromCode
}

// Filter selects rows. The zero value selects all rows.
type Filter struct {
	// Group is a part of the group name, case-insensitive.
	Group string
	// OnlySet excludes variables with their default.
	OnlySet bool
}

// Read returns the selected rows in the order of the variables.
func Read(s *service.Service, f Filter) []Row {
	var rows []Row
	for _, v := range s.Variables {
		r := newRow(s, v)
		inGroup := strings.Contains(strings.ToLower(r.Group), strings.ToLower(f.Group))
		if inGroup && (!f.OnlySet || r.IsSet()) {
			rows = append(rows, r)
		}
	}
	return rows
}

func newRow(s *service.Service, v service.Variable) Row {
	value, source := s.Value(v)
	r := Row{
		Name: v.Key.String(), Group: v.Group, Type: v.Type.String(), Default: v.Default,
		Accepted: v.Accepted(), Values: v.Values, Meaning: v.Meaning, Packages: v.Packages,
		Secret: v.Secret, Value: value, Source: source, v: v.Var,
	}
	switch masked := xenv.Redact(value); {
	case v.Secret && value != "":
		r.Value, r.hidden = mask, true
	case masked != value: // for example a URL in a host variable
		r.Value, r.hidden = masked, true
	}
	r.Problem = redact.Text(v.Problem)
	return r
}

// Groups returns the group names in the order of the variables.
func Groups(vars []service.Variable) []string {
	var names []string
	for _, v := range vars {
		if !slices.Contains(names, v.Group) {
			names = append(names, v.Group)
		}
	}
	return names
}

// Problems returns the problems of invalid values.
func Problems(rows []Row) []string {
	var lines []string
	for _, r := range rows {
		if r.Problem != "" {
			lines = append(lines, r.Problem)
		}
	}
	return lines
}

// Markdown returns the rows as one table per group.
func Markdown(rows []Row) string {
	vars, byKey := index(rows)
	return strings.TrimPrefix(envtable.Markdown(
		vars,
		envtable.Column{Title: "Type", Cell: func(v xenv.Var) string { return v.Type.String() }},
		envtable.Column{
			Title: "Value",
			Cell:  func(v xenv.Var) string { return envtable.Code(byKey[v.Key].Value) },
		},
		envtable.Column{
			Title: "From",
			Cell:  func(v xenv.Var) string { return string(byKey[v.Key].Source) },
		},
	), "\n")
}

// Dotenv returns the rows as a .env file. Set variables are assignments; defaults and
// secrets are comments.
func Dotenv(rows []Row) string {
	vars, byKey := index(rows)
	return envtable.Example(vars, func(v xenv.Var) string { return assignment(byKey[v.Key]) })
}

// index returns the variables of the rows, and the rows by key.
func index(rows []Row) (vars []xenv.Var, byKey map[xenv.EnvKey]Row) {
	byKey = map[xenv.EnvKey]Row{}
	for _, r := range rows {
		vars, byKey[r.v.Key] = append(vars, r.v), r
	}
	return vars, byKey
}

// assignment returns the .env line of a variable, or a comment with its default.
func assignment(r Row) string {
	commented := envtable.Commented(r.v)
	switch {
	case !r.IsSet():
		return commented
	case r.hidden:
		return "# " + r.Name + "=" + mask
	}
	line := r.Name + "=" + quote(r.Value)
	if values, _ := xdotenv.Parse(line); values[r.Name] != r.Value {
		return "# The value has quotes or a trailing backslash that a .env file cannot represent.\n" + commented
	}
	return line
}

// quote returns a value in .env syntax. It prefers single quotes.
func quote(value string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,@%+-[]*"
	switch {
	case strings.Trim(value, plain) == "":
		return value
	case !strings.ContainsAny(value, "'\n\r"):
		return "'" + value + "'"
	default:
		escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "$", `\$`)
		return `"` + escape.Replace(value) + `"`
	}
}
