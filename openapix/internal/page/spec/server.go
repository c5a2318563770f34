package spec

import (
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// Server is a base address of the operations. The URL may be relative.
type Server struct {
	URL, Description string
}

// Servers returns the servers, with the defaults of their variables.
func (d *Document) Servers() []Server {
	var list []Server
	for _, node := range d.Get("servers").Items() {
		address := node.Get("url").Str()
		for _, v := range node.Get("variables").Members() {
			address = strings.ReplaceAll(address, "{"+v.Name+"}", v.Value.Get("default").Str())
		}
		list = append(list, Server{address, node.Get("description").Str()})
	}
	return list
}

// Scheme is a security scheme.
type Scheme struct {
	Name string
	// Type is http, apiKey, oauth2, openIdConnect or mutualTLS.
	Type string
	// Scheme is that of the type http, in lower case, such as bearer.
	Scheme string
	// In and Key are the place and the name of an apiKey.
	In, Key     string
	Description string
}

// Schemes returns the security schemes.
func (d *Document) Schemes() []Scheme {
	var list []Scheme
	for _, member := range d.Get("components", "securitySchemes").Members() {
		node := d.Resolve(member.Value)
		list = append(list, Scheme{
			Name: member.Name, Type: node.Get("type").Str(),
			Scheme: strings.ToLower(node.Get("scheme").Str()),
			In:     node.Get("in").Str(), Key: node.Get("name").Str(),
			Description: node.Get("description").Str(),
		})
	}
	return list
}

// Tag is a group of operations.
type Tag struct {
	Name, Description string
	Operations        []*Operation
}

// Tags returns the operations by their first tag: the declared tags first, then the other
// ones, then operations without a tag.
func (d *Document) Tags() []*Tag {
	var list []*Tag
	byName := map[string]*Tag{}
	add := func(name string, node *jsontree.Value) {
		if byName[name] == nil {
			byName[name] = &Tag{Name: name, Description: node.Get("description").Str()}
			list = append(list, byName[name])
		}
	}
	for _, node := range d.Get("tags").Items() {
		add(node.Get("name").Str(), node)
	}
	untagged := &Tag{}
	for _, operation := range d.Operations() {
		if len(operation.Tags) == 0 {
			untagged.Operations = append(untagged.Operations, operation)
			continue
		}
		add(operation.Tags[0], nil)
		tag := byName[operation.Tags[0]]
		tag.Operations = append(tag.Operations, operation)
	}
	var used []*Tag
	for _, tag := range append(list, untagged) {
		if len(tag.Operations) > 0 {
			used = append(used, tag)
		}
	}
	return used
}
