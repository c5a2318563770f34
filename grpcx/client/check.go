package client

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/balancer"
)

// problems are what is wrong with a configuration. No text shows a secret.
type problems []error

func (p *problems) add(wrong bool, format string, args ...any) {
	if wrong {
		*p = append(*p, fmt.Errorf("grpcx/client: "+format, args...))
	}
}

// check returns everything that is wrong with the configuration.
func (c *config) check() error {
	var p problems
	source := *c.source
	p.add(!printable(source) || source != strings.TrimSpace(source),
		"the source %q is not plain ASCII text: name the service by WithSource, or leave it out with WithSource(\"\")", source)
	p.add(c.timeout < 0, "WithTimeout: %v is negative: give 0 for no bound", c.timeout)
	for i, option := range c.dial {
		p.add(option == nil, "WithDialOptions: option %d is nil: leave it out", i+1)
	}
	p.add(c.secure && c.tls == nil,
		"WithTLS: the configuration is nil: leave the option out for TLS with the system's roots")
	p.add(c.secure && c.plaintext, "WithTLS and WithPlaintext are both given: choose one")
	if c.application != nil {
		c.application.check(&p)
		p.add(c.plaintext && !c.plainSecret,
			"WithApplication would send its secret readable by all: "+
				"choose TLS by leaving out WithPlaintext, or add WithPlaintextSecrets for development")
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
			"WithLoadBalancing: no policy %q is registered: write round_robin, or import the package of the policy", *c.balancing)
	}
	return errors.Join(p...)
}

func (id *identity) check(p *problems) {
	for _, value := range []struct{ name, text string }{
		{"access id", id.accessID},
		{"secret key", id.secret.Reveal()},
	} {
		blank := strings.TrimSpace(value.text) == ""
		p.add(blank, "WithApplication: the %s is empty: give the one that the service has issued",
			value.name)
		p.add(!blank && !printable(value.text),
			"WithApplication: the %s has characters other than printable ASCII: look for a line break at its end", value.name)
	}
}

// printable reports whether gRPC can send s as the value of a header.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
