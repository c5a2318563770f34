// Package envlist lists every variable that Plinth reads, with the value that a service
// would see and where it comes from. No form of the list holds the value of a secret.
package envlist

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xdotenv"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/envtable"
	"github.com/plinthgo/plinth/tools/plinth/internal/hush"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// mask stands in the place of a secret.
const mask = "***"

// Row is a variable as the service sees it.
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
	hidden bool // Value is not the value
}

// IsSet reports whether somebody has given the variable a value.
func (r Row) IsSet() bool {
	return r.Source == service.FromEnvironment || r.Source == service.FromFile ||
		r.Source == service.FromCode
}

// Filter chooses rows. The zero value chooses all.
type Filter struct {
	// Group is the name of a group, or a part of it, in any case.
	Group string
	// OnlySet leaves out what has its default.
	OnlySet bool
}

// Read returns the rows that the filter chooses, in the order of the table.
func Read(s *service.Service, f Filter) []Row {
	var rows []Row
	for _, v := range s.Variables {
		r := newRow(s, v)
		if !strings.Contains(strings.ToLower(r.Group), strings.ToLower(f.Group)) || f.OnlySet &&
			!r.IsSet() {
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

func newRow(s *service.Service, v service.Variable) Row {
	value, source := s.Value(v)
	r := Row{
		Name: v.Key.String(), Group: v.Group, Type: v.Type.String(), Default: v.Default,
		Accepted: v.Accepted(),
		Values:   v.Values, Meaning: v.Meaning, Packages: v.Packages, Secret: v.Secret,
		Value:  value,
		Source: source, v: v.Var,
	}
	switch masked := xenv.Redact(value); {
	case v.Secret && value != "":
		r.Value, r.hidden = mask, true
	case masked != value: // an address in the place of a host, or the like
		r.Value, r.hidden = masked, true
	}
	r.Problem = hush.Mask(v.Problem)
	return r
}

// Groups returns the names of the groups in the order of the variables.
func Groups(vars []service.Variable) []string {
	var names []string
	for _, v := range vars {
		if !slices.Contains(names, v.Group) {
			names = append(names, v.Group)
		}
	}
	return names
}

// Problems returns what is wrong with the values, a line each.
func Problems(rows []Row) []string {
	var lines []string
	for _, r := range rows {
		if r.Problem != "" {
			lines = append(lines, r.Problem)
		}
	}
	return lines
}

// Markdown returns the rows as one table a group.
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

// Dotenv returns the rows as a .env file. It is .env.example with a line of its own for
// what is set; a secret stays a comment.
func Dotenv(rows []Row) string {
	vars, byKey := index(rows)
	return envtable.Example(vars, func(v xenv.Var) string { return assignment(byKey[v.Key]) })
}

// index returns the variables of the rows, and the rows by variable.
func index(rows []Row) (vars []xenv.Var, byKey map[xenv.EnvKey]Row) {
	byKey = map[xenv.EnvKey]Row{}
	for _, r := range rows {
		vars, byKey[r.v.Key] = append(vars, r.v), r
	}
	return vars, byKey
}

// assignment returns the line that gives a variable its value, or its default in a
// comment.
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
		return "# A .env file cannot hold the value, for its quotes or its backslash at the end.\n" + commented
	}
	return line
}

// quote returns a value as a .env file holds it. What cannot stand in one in single
// quotes stands in double ones.
func quote(value string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,@%+-[]*"
	switch {
	case strings.Trim(value, plain) == "":
		return value
	case !strings.ContainsAny(value, "'\n\r"):
		return "'" + value + "'"
	default:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "$",
			`\$`).Replace(value) + `"`
	}
}
