package tool

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/page"
)

const markdown = "text/markdown"

// addResources adds a resource for each page, and a template for all pages.
func (d *docs) addResources(server *mcp.Server) {
	for _, p := range d.library.Pages() {
		uri := resourceURI(p)
		server.AddResource(&mcp.Resource{
			URI: uri, Name: strings.TrimPrefix(p.URL(), "/docs/"), Title: p.Title,
			Description: p.Description, MIMEType: markdown,
			Size: int64(len(p.Markdown())),
		}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(uri, p), nil
		})
	}
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: scheme + ":///{sector}/{+path}", Name: "page",
		Title: "Page of the documentation", MIMEType: markdown,
		Description: "A page in Markdown. Sector and path are the ones that the tools list and search return.",
	}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		at, err := d.locate("", r.Params.URI)
		if err != nil {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		p, err := d.page(at)
		if err != nil {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return contents(r.Params.URI, p), nil
	})
}

// resourceURI returns docs:///<sector>/<path>, or docs:///<sector> for the index of a
// sector.
func resourceURI(p *page.Page) string {
	u := url.URL{Scheme: scheme, Path: strings.TrimPrefix(p.URL(), "/docs")}
	return u.String()
}

func contents(uri string, p *page.Page) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: uri, MIMEType: markdown,
		Text: p.Markdown(),
	}}}
}
