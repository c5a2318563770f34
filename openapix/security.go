package openapix

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// SecurityScheme describes how clients authenticate. Create it with Bearer, APIKey,
// Basic, OAuth2 or OpenIDConnect.
type SecurityScheme struct {
	// Description is shown to the users of the API.
	Description string

	object *tree.Object
}

func scheme(typ string) *tree.Object { return tree.New().Set("type", typ) }

// Bearer is a token in the header "Authorization: Bearer <token>". format is a hint for
// readers, such as "JWT", and may be empty.
func Bearer(format string) SecurityScheme {
	return SecurityScheme{
		object: scheme("http").Set("scheme", "bearer").Add("bearerFormat", format),
	}
}

// Basic is a user name and a password (RFC 7617).
func Basic() SecurityScheme {
	return SecurityScheme{object: scheme("http").Set("scheme", "basic")}
}

// APIKey is a key in the given header.
func APIKey(header string) SecurityScheme {
	return SecurityScheme{object: scheme("apiKey").Set("in", "header").Set("name", header)}
}

// OAuth2 is the authorization code flow of OAuth 2. scopes contains the description of
// each scope and may be nil.
func OAuth2(authorizationURL, tokenURL string, scopes map[string]string) SecurityScheme {
	list := tree.New()
	for _, name := range slices.Sorted(maps.Keys(scopes)) {
		list.Set(name, scopes[name])
	}
	flow := tree.New().Set("authorizationUrl", authorizationURL).Set("tokenUrl", tokenURL).
		Set("scopes", list)
	return SecurityScheme{
		object: scheme("oauth2").Set("flows", tree.New().Set("authorizationCode", flow)),
	}
}

// OpenIDConnect is OpenID Connect with the given URL of the discovery document.
func OpenIDConnect(url string) SecurityScheme {
	return SecurityScheme{object: scheme("openIdConnect").Set("openIdConnectUrl", url)}
}

// securitySchemes returns the components of the schemes.
func (c *config) securitySchemes() (*tree.Object, error) {
	o := tree.New()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.schemes)) {
		s := c.schemes[name]
		if s.object == nil {
			errs = append(errs, fmt.Errorf("openapix: the security scheme %q is empty: "+
				"create it with a function such as Bearer", name))
			continue
		}
		o.Set(name, s.object.Clone().Add("description", s.Description))
	}
	return o, errors.Join(errs...)
}
