package catalog

import (
	"bytes"
	"embed"
	"strconv"
	"strings"
	"text/template"
)

//go:embed compose
var blocks embed.FS

// A Value is a variable with the value that it is to have.
type Value struct{ Key, Value string }

// Local returns what .env sets for a service of that name. A secret is there without a value.
func (b Backend) Local(name string) []Value {
	values := b.values(name, func(s Setting) string { return s.Local }, func(Setting) string { return "" })
	return b.withoutLogin(values)
}

// Container returns what Compose sets, as YAML. A secret comes from the environment of Compose itself.
func (b Backend) Container(name string) []Value {
	values := b.values(name, func(s Setting) string { return quote(s.Container) }, func(s Setting) string {
		return "${" + s.Key + ":?is not set}"
	})
	return b.withoutLogin(values)
}

// withoutLogin leaves the password of a mail server out: Mailpit asks for none.
func (b Backend) withoutLogin(values []Value) []Value {
	if b.Kind == Mail {
		return without(values, b.Secrets())
	}
	return values
}

// Cluster returns what the ConfigMap sets, as YAML. Secrets are not among it.
func (b Backend) Cluster(name string) []Value {
	values := b.values(name, func(s Setting) string { return quote(s.Cluster) }, func(Setting) string { return "" })
	return without(values, b.Secrets())
}

// Secrets returns the variables whose values are secret, each with its name in the secret of the cluster.
func (b Backend) Secrets() []Value {
	var list []Value
	for _, s := range b.Settings {
		if s.Secret != "" {
			list = append(list, Value{s.Key, s.Secret})
		}
	}
	return list
}

func (b Backend) values(name string, plain, secret func(Setting) string) []Value {
	var list []Value
	for _, s := range b.Settings {
		switch value := plain(s); {
		case s.Secret != "":
			list = append(list, Value{s.Key, secret(s)})
		case value != "":
			list = append(list, Value{s.Key, expand(value, name)})
		}
	}
	return list
}

func without(values, others []Value) []Value {
	var rest []Value
	for _, v := range values {
		known := false
		for _, o := range others {
			known = known || o.Key == v.Key
		}
		if !known {
			rest = append(rest, v)
		}
	}
	return rest
}

// quote writes a value so that YAML takes it for a text.
func quote(value string) string {
	if _, err := strconv.Atoi(value); err == nil || strings.HasSuffix(value, ":") {
		return strconv.Quote(value)
	}
	return value
}

// Block returns the service of the backend's own in compose.yaml, of a service of that name.
func (b Backend) Block(name string) (string, error) {
	text, err := blocks.ReadFile("compose/" + b.container + ".yaml")
	if err != nil {
		return "", err
	}
	t, err := template.New(b.Name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct{ Database string }{Identifier(name)}); err != nil {
		return "", err
	}
	return out.String(), nil
}
