package client

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/balancer"
)

// problems lists the errors of a configuration. They must not contain secrets.
type problems []error

func (p *problems) add(invalid bool, format string, args ...any) {
	if invalid {
		*p = append(*p, fmt.Errorf("grpcx/client: "+format, args...))
	}
}

// check returns all problems of the configuration.
func (c *config) check() error {
	var p problems
	source := *c.source
	p.add(!printable(source) || source != strings.TrimSpace(source),
		"source %q is not printable ASCII: "+
			"set it with WithSource, or disable it with WithSource(\"\")", source)
	p.add(c.timeout < 0, "WithTimeout: %v is negative: use 0 for no timeout", c.timeout)
	for i, option := range c.dial {
		p.add(option == nil, "WithDialOptions: option %d is nil: remove it", i+1)
	}
	p.add(c.tlsSet && c.tls == nil,
		"WithTLS: the configuration is nil: remove the option for TLS with the system's roots")
	p.add(c.tlsSet && c.plaintext, "WithTLS and WithPlaintext are mutually exclusive: remove one")
	if c.application != nil {
		c.application.check(&p)
		p.add(c.plaintext && !c.plaintextSecrets,
			"WithApplication: the secret would be sent unencrypted: "+
				"remove WithPlaintext, or add WithPlaintextSecrets for development")
	}
	if c.retry != nil {
		c.retry.check(&p)
	}
	for _, name := range c.idempotent {
		if _, err := parseName(name); err != nil {
			p = append(p, err)
		}
	}
	if c.balancing != nil {
		p.add(balancer.Get(*c.balancing) == nil,
			"WithLoadBalancing: policy %q is not registered: "+
				"use round_robin, or import the package of the policy", *c.balancing)
	}
	return errors.Join(p...)
}

func (id *identity) check(p *problems) {
	for _, value := range []struct{ name, text string }{
		{"access id", id.accessID},
		{"secret key", id.secret.Reveal()},
	} {
		blank := strings.TrimSpace(value.text) == ""
		p.add(blank, "WithApplication: the %s is empty: use the value issued by the service",
			value.name)
		p.add(!blank && !printable(value.text),
			"WithApplication: the %s contains characters other than printable ASCII: "+
				"check for a trailing line break", value.name)
	}
}

// printable reports whether s is a valid header value in gRPC.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
