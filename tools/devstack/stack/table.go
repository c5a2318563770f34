package stack

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table returns a table of the sources of all servers, without passwords.
func (s *Stack) Table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tFROM\tSERVER\tADDRESS")
	for _, r := range s.rows {
		switch {
		case r.private != nil:
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n",
				r.kind.Name, Private, r.private.Version(), r.private.Address())
		case r.missing != nil:
			fmt.Fprintf(w, "%s\tSKIPPED\t\t%s is not set, and %s\n",
				r.kind.Name, dsnVariable(r.kind), r.missing)
		default:
			from := dsnVariable(r.kind)
			if source := s.env(variable(r.kind, "SOURCE")); source != "" {
				from += ", " + source
			}
			status := ""
			if r.silent {
				status = "*** NO RESPONSE ***"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.kind.Name, from, status, r.address)
		}
	}
	_ = w.Flush()
	if s.private() && !s.isCAComplete() {
		fmt.Fprintf(&b, "%s is not set: tests do not verify certificates. Set it to the CA certificates of the servers of the environment.\n", caVariable)
	}
	return b.String()
}
