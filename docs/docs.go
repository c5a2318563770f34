// Package docs contains the documentation of Plinth and a server for users and language
// models.
//
// A Site is one http.Handler for HTML pages, Markdown, llms.txt, search, and an endpoint
// of the Model Context Protocol. It serves the embedded content, or a directory that it
// watches. A service can mount it; the command plinth-docs serves it as a program.
//
// A Site serves an immutable snapshot: pages, search index and protocol server are built
// together from one version of the content. A change of a watched directory replaces the
// snapshot.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed all:content
var embedded embed.FS

// Content returns the documentation of this version of Plinth: a directory of Markdown
// pages for each sector.
func Content() fs.FS {
	content, err := fs.Sub(embedded, "content")
	if err != nil {
		panic(err) // the name is a valid constant
	}
	return content
}
