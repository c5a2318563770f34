// Package tool serves the documentation to language models over the Model Context
// Protocol.
//
//	server := tool.New(tool.Config{Library: library, Index: index, BaseURL: "https://docs.example.com", Version: "1.2.3"})
//
// Arguments and result fields of the four tools are an API that clients rely on:
//
//	sector  ()                                    sectors, details[{name, title, description}]
//	list    (sector, search?)                     sector, baseUrl, documents[{path, title, description}]
//	detail  (sector, path)                        sector, path, title, url, content
//	search  (query, sector?, path?, limit?, cursor?)
//	        query, sector, path, totalResults, results[{title, sector, detailPath, excerpt, heading, anchor, url, score}],
//	        suggestions, message?, nextCursor?
//
// A result has structured content with these fields, and a text: the Markdown of the page
// for detail, the same JSON for the other tools. Arrays are never null. A null or blank
// argument counts as absent.
//
// Errors that a model can fix are results with isError, not protocol errors. Their text
// names the argument, suggests the most similar sector or page, and says which tool to
// call. A path may have any form that Library.Find accepts, or be a URL of the site or
// the URI of a resource. Anchors are ignored, because detail returns whole pages.
//
// Each page is also a resource, docs:///<sector>/<path>, of type text/markdown. The
// prompt ask is for questions about the documentation.
//
// A server has one snapshot of the documentation. It may serve several transports
// concurrently.
package tool

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

// Config configures New. Library and Index are required.
type Config struct {
	Library *page.Library
	Index   *search.Index // of Library
	// BaseURL is the address of the site, such as https://docs.example.com. If it is
	// empty, addresses start with /docs.
	BaseURL string
	Version string // of the documentation
	// Options, if set, modifies the options of the server.
	Options func(*mcp.ServerOptions) *mcp.ServerOptions
}

// freshness is the time for which clients may cache lists and pages.
const freshness = 5 * time.Minute

const instructions = `The documentation of Plinth, a base for Go services on gin, gorm and grpc-go. It consists of sectors with pages in Markdown.

To answer a question, call search with a few words in English or Chinese, such as names of packages, functions or environment variables. ` +
	`Then call detail with the sector and the detailPath of a result to read the whole page before you write code.
To get an overview, call sector, then list with one of its names.
Excerpts of search are incomplete. Use them to find pages, not to quote an API.`

// New returns a server with the tools, resources and prompt of the documentation.
func New(c Config) *mcp.Server {
	d := &docs{library: c.Library, index: c.Index, base: strings.TrimRight(c.BaseURL, "/")}
	if u, err := url.Parse(d.base); err == nil {
		d.site = *u
	}
	options := &mcp.ServerOptions{
		Instructions: instructions,
		// the content never changes, so there are no change notifications
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{},
			Prompts: &mcp.PromptCapabilities{},
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(freshness.Milliseconds()), "public"
		},
	}
	if c.Options != nil {
		options = c.Options(options)
	}
	server := mcp.NewServer(&mcp.Implementation{
		Name: "plinth-docs", Title: "Plinth documentation",
		Version: cmp.Or(c.Version, "dev"), WebsiteURL: d.base,
		Description: "Guides and reference of Plinth, a base for Go services on gin, gorm and grpc-go.",
	}, options)
	server.AddReceivingMiddleware(recovered, d.suggest, rejectUndeclared(options))
	for _, t := range d.tools() {
		t.addTo(server)
	}
	d.addResources(server)
	d.addPrompt(server)
	return server
}

// docs is the immutable state of the tools.
type docs struct {
	library *page.Library
	index   *search.Index
	base    string  // prefix of addresses, without a trailing slash
	site    url.URL // base, parsed
}

// tools returns the tools in the usual order of use. The protocol lists them by name.
func (d *docs) tools() []definition {
	return []definition{d.sectorTool(), d.listTool(), d.detailTool(), d.searchTool()}
}

// names returns the comma-separated names of the sectors.
func (d *docs) names() string {
	var names []string
	for _, s := range d.library.Sectors() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
