// Package tool offers the documentation to language models, over the Model Context
// Protocol.
//
//	server := tool.New(tool.Config{Library: library, Index: index, BaseURL: "https://docs.example.com", Version: "1.2.3"})
//
// There are four tools. Their arguments and the fields of their results are an interface
// that clients rely on:
//
//	sector  ()                                    sectors, details[{name, title, description}]
//	list    (sector, search?)                     sector, baseUrl, documents[{path, title, description}]
//	detail  (sector, path)                        sector, path, title, url, content
//	search  (query, sector?, path?, limit?, cursor?)
//	        query, sector, path, totalResults, results[{title, sector, detailPath, excerpt, heading, anchor, url, score}],
//	        suggestions, nextCursor?
//
// A result has structured content of these fields and a text. The text of detail is the
// page's Markdown, that of the others the same JSON. Arrays are never null. An argument
// that is null or blank counts as absent.
//
// What a model can mend is not an error of the protocol but a result with isError, whose
// text names the argument, suggests the nearest sector or page, and says what to call. A
// path may be written in any way that Library.Find takes, as an address of the site, or
// as the URI of a resource. An anchor is ignored: detail returns whole pages.
//
// Each page is also a resource, docs:///<sector>/<path>, of type text/markdown. The
// prompt ask has a model answer a question from the documentation.
//
// A server holds one snapshot of the documentation and may serve several transports and
// goroutines at once.
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

// A Config says what is served. Library and Index are required.
type Config struct {
	Library *page.Library
	Index   *search.Index // of Library
	// BaseURL is the address of the site, as https://docs.example.com. Without it,
	// addresses begin with /docs.
	BaseURL string
	Version string // of the documentation
	// Options, where set, is given the server's options and returns those to use: for
	// what is to be added to the server later.
	Options func(*mcp.ServerOptions) *mcp.ServerOptions
}

// freshness is for how long clients may keep a list or a page.
const freshness = 5 * time.Minute

const instructions = `The documentation of Plinth, glue around gin, gorm and grpc-go for Go services. It has sectors, which hold pages in Markdown.

To answer a question, call search with a few words, names of packages, functions or environment variables among them, in English or Chinese. ` +
	`Then call detail with the sector and the detailPath of a result to read the whole page before you write code.
To get an overview, call sector, then list with one of its names.
The excerpts of search are cut: they show where to read, and are not enough to quote an interface from.`

// New returns a server with the tools, resources and prompt of the documentation.
func New(c Config) *mcp.Server {
	d := &docs{library: c.Library, index: c.Index, base: strings.TrimRight(c.BaseURL, "/")}
	if u, err := url.Parse(d.base); err == nil {
		d.site = *u
	}
	options := &mcp.ServerOptions{
		Instructions: instructions,
		// what is served never changes: nobody is told of changes
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
		Description: "Guides and reference of Plinth, glue around gin, gorm and grpc-go for Go services.",
	}, options)
	server.AddReceivingMiddleware(rescue, d.suggest, refuseUndeclared(options))
	for _, t := range d.tools() {
		t.addTo(server)
	}
	d.addResources(server)
	d.addPrompt(server)
	return server
}

// docs is what the tools work on. It never changes after New.
type docs struct {
	library *page.Library
	index   *search.Index
	base    string  // of addresses, without a slash at its end
	site    url.URL // the same, parsed
}

// tools are the four, in the order in which a reader uses them. The protocol lists them
// by name.
func (d *docs) tools() []definition {
	return []definition{d.sectorTool(), d.listTool(), d.detailTool(), d.searchTool()}
}

// names is a list of the sectors' names for people.
func (d *docs) names() string {
	var names []string
	for _, s := range d.library.Sectors() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}
