package page

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/spec"
)

// scheme is a security scheme in the introduction.
type scheme struct{ Name, Kind, Description string }

func schemesOf(d *spec.Document) []scheme {
	var list []scheme
	for _, s := range d.Schemes() {
		kind := s.Type
		switch s.Type {
		case "http":
			kind = "HTTP " + s.Scheme
		case "apiKey":
			kind = "key in the " + s.In + " parameter " + s.Key
		}
		list = append(list, scheme{s.Name, kind, s.Description})
	}
	return list
}

// credential is a field of the dialog for authorization. The script adds its value to
// requests of operations with the scheme, or to all requests if the scheme is empty.
type credential struct{ Scheme, Label, In, Key, Prefix, Hint string }

const authorization = "Authorization"

func credentialsOf(d *spec.Document) []credential {
	var list []credential
	covered := false
	for _, s := range d.Schemes() {
		c := credential{
			Scheme: s.Name, Label: s.Name, In: "header", Key: authorization, Prefix: "Bearer",
		}
		switch {
		case s.Type == "apiKey" && s.In != "cookie":
			c.In, c.Key, c.Prefix = s.In, s.Key, ""
		case s.Type == "http" && s.Scheme == "basic":
			c.Prefix, c.Hint = "Basic", "user:password"
		case s.Type == "http" && s.Scheme != "bearer":
			c.Prefix = ""
		case s.Type == "apiKey", s.Type == "mutualTLS":
			continue // the browser adds cookies and certificates
		}
		covered = covered || c.Key == authorization
		list = append(list, c)
	}
	if !covered {
		list = append(list, credential{
			Label: authorization, In: "header", Key: authorization, Hint: "Bearer …",
		})
	}
	return list
}

// securityOf describes the requirements of an operation and returns the names of the
// schemes.
func securityOf(o *spec.Operation) (description, names string) {
	var alternatives, schemes []string
	for _, alternative := range o.Security {
		var parts []string
		for _, r := range alternative {
			part := r.Scheme
			if len(r.Scopes) > 0 {
				part += " (" + strings.Join(r.Scopes, ", ") + ")"
			}
			parts = append(parts, part)
			if !slices.Contains(schemes, r.Scheme) {
				schemes = append(schemes, r.Scheme)
			}
		}
		if parts == nil {
			parts = []string{"anonymous"}
		}
		alternatives = append(alternatives, strings.Join(parts, " and "))
	}
	return strings.Join(alternatives, " or "), strings.Join(schemes, " ")
}
