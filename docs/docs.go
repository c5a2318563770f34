// Package docs is the documentation of Plinth, and the server through which people and
// language models read it.
//
// A Site is one http.Handler with everything: pages for people, the same pages as
// Markdown, llms.txt, a search, and an endpoint of the Model Context Protocol. It reads
// the content that is embedded here, or a folder that it watches. A service can mount it;
// the command plinth-docs serves it by itself.
//
// What a Site shows is a snapshot: pages, index, texts and protocol server are built
// together from one reading of the content and never change afterwards, so no request
// sees half of a change. Watching a folder builds another snapshot and puts it in the
// place of the first.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed all:content
var embedded embed.FS

// Content returns the documentation that belongs to this version of Plinth: a folder a
// sector, pages in Markdown.
func Content() fs.FS {
	content, err := fs.Sub(embedded, "content")
	if err != nil {
		panic(err) // the name is a constant, and valid
	}
	return content
}
