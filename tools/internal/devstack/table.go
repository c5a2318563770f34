package devstack

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/tabwriter"
)

// Table shows people where each kind of server comes from. It holds no password.
func (s *Stack) Table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tFROM\tSERVER\tADDRESS")
	for _, r := range s.rows {
		switch {
		case r.private != nil:
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.kind.Name, Private, r.private.Version(), r.private.Address())
		case r.missing != nil:
			fmt.Fprintf(w, "%s\tSKIPPED\t\t%s is not set, and %s\n", r.kind.Name, dsnVariable(r.kind), r.missing)
		default:
			from := dsnVariable(r.kind)
			if source := s.given(variable(r.kind, "SOURCE")); source != "" {
				from += ", " + source
			}
			fmt.Fprintf(w, "%s\t%s\t\t%s\n", r.kind.Name, from, address(r.given))
		}
	}
	_ = w.Flush()
	if s.private() && !s.trusted() {
		fmt.Fprintf(&b, "%s is not set: tests do not check certificates. Set it to those of the servers that were given.\n", caVariable)
	}
	return b.String()
}

var inParentheses = regexp.MustCompile(`@\w*\(([^()@]*)\)/`)

// address takes host and port out of a connection string; where it cannot it says nothing, since the rest holds a password.
func address(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.Host != "" && !strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return u.Host
	}
	if found := inParentheses.FindAllStringSubmatch(dsn, -1); found != nil {
		return found[len(found)-1][1]
	}
	return "as given"
}
