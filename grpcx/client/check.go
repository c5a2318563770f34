package client

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/balancer"
)

// problems returns everything that is wrong with the configuration. No text shows a secret.
func (c *config) problems() []error {
	var list []error
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, fmt.Errorf("grpcx/client: "+format, args...))
		}
	}
	add(!printable(*c.source) || *c.source != strings.TrimSpace(*c.source),
		"the source %q is not plain ASCII text: name the service by WithSource, or leave it out with WithSource(\"\")", *c.source)
	add(c.timeout < 0, "WithTimeout: %v is negative: give 0 for no bound", c.timeout)
	for i, option := range c.dial {
		add(option == nil, "WithDialOptions: option %d is nil: leave it out", i+1)
	}
	list = append(list, c.transportProblems()...)
	list = append(list, c.applicationProblems()...)
	if c.retry != nil {
		list = append(list, c.retry.problems()...)
	}
	for _, name := range c.idempotent {
		if _, err := parseName(name); err != nil {
			list = append(list, err)
		}
	}
	if c.balancing != nil {
		add(balancer.Get(*c.balancing) == nil,
			"WithLoadBalancing: no policy %q is registered: write round_robin, or import the package of the policy", *c.balancing)
	}
	return list
}

func (c *config) transportProblems() []error {
	var list []error
	if c.secure && c.tls == nil {
		list = append(list, errors.New("grpcx/client: WithTLS: the configuration is nil: leave the option out for TLS with the system's roots"))
	}
	if c.secure && c.plaintext {
		list = append(list, errors.New("grpcx/client: WithTLS and WithPlaintext are both given: choose one"))
	}
	return list
}

func (c *config) applicationProblems() []error {
	if c.application == nil {
		return nil
	}
	var list []error
	for _, value := range []struct{ name, text string }{
		{"access id", c.application.accessID}, {"secret key", c.application.secret.Reveal()},
	} {
		switch {
		case strings.TrimSpace(value.text) == "":
			list = append(list, fmt.Errorf("grpcx/client: WithApplication: the %s is empty: give the one that the service has issued", value.name))
		case !printable(value.text):
			list = append(list, fmt.Errorf("grpcx/client: WithApplication: the %s has characters other than printable ASCII: look for a line break at its end", value.name))
		}
	}
	if c.plaintext && !c.plainSecret {
		list = append(list, errors.New("grpcx/client: WithApplication would send its secret readable by all: "+
			"choose TLS by leaving out WithPlaintext, or add WithPlaintextSecrets for development"))
	}
	return list
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
