package tool

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
	"github.com/plinthgo/plinth/docs/internal/search"
)

type (
	searchResult struct {
		Query        string   `json:"query" jsonschema:"the query"`
		Sector       string   `json:"sector" jsonschema:"the sector that was searched, or empty for all"`
		Path         string   `json:"path" jsonschema:"the path that was searched, or empty for all"`
		TotalResults int      `json:"totalResults" jsonschema:"total number of results, including those on other pages"`
		Results      []found  `json:"results" jsonschema:"sections of pages, best first"`
		Suggestions  []string `json:"suggestions" jsonschema:"alternative queries if a word is unknown"`
		Message      string   `json:"message,omitempty" jsonschema:"what to do if nothing was found; absent otherwise"`
		NextCursor   string   `json:"nextCursor,omitempty" jsonschema:"the argument cursor for the next results; absent on the last page"`
	}
	found struct {
		Title      string  `json:"title" jsonschema:"title of the page"`
		Sector     string  `json:"sector" jsonschema:"sector of the page, for detail"`
		DetailPath string  `json:"detailPath" jsonschema:"path of the page, for detail"`
		Excerpt    string  `json:"excerpt" jsonschema:"a part of the section"`
		Heading    string  `json:"heading" jsonschema:"heading of the section, empty for the beginning of the page"`
		Anchor     string  `json:"anchor" jsonschema:"anchor of the heading"`
		URL        string  `json:"url" jsonschema:"web address of the section"`
		Score      float64 `json:"score" jsonschema:"relevance, comparable within one search"`
	}
)

// defaultLimit is the default number of results. It is small because a model reads all of
// them.
const defaultLimit = 10

func (d *docs) searchTool() definition {
	return definition{
		name: "search", title: "Search in the documentation",
		description: "Finds sections of the documentation of Plinth by words, identifiers or environment variables, in English or Chinese, " +
			"the most relevant first, with excerpts. Read the page of a result with detail (sector, detailPath).",
		parameters: parameters{
			{
				name: "query", description: "A few words, such as: redis key prefix.",
				required: true,
				hint:     `send at least one word, such as "graceful shutdown"; call list for all pages of a sector`,
			},
			d.sectorParameter("Search only this sector. The default is all."),
			{name: "path", description: "Search only this page, or the pages below this path."},
			{
				name: "limit", description: "Maximum number of results.",
				max: search.MaxLimit, standard: defaultLimit,
			},
			{name: "cursor", description: "The nextCursor of the previous call with the same query, sector and path."},
		},
		output: outputSchema[searchResult](),
		run: func(args arguments) (any, string, error) {
			result, err := d.search(args)
			return result, "", err
		},
	}
}

func (d *docs) search(args arguments) (searchResult, error) {
	at, err := d.scope(args.strings["sector"], args.strings["path"])
	if err != nil {
		return searchResult{}, err
	}
	result := searchResult{
		Query: args.strings["query"], Path: at.path, Results: []found{},
		Suggestions: []string{},
	}
	if at.sector != nil {
		result.Sector = at.sector.Name
	}
	offset, err := result.offset(args.strings["cursor"])
	if err != nil {
		return searchResult{}, err
	}
	hits, err := d.index.Search(search.Query{
		Text: result.Query, Sector: result.Sector, Path: result.Path, Limit: args.numbers["limit"],
		Offset: offset,
	})
	if errors.Is(err, search.ErrEmpty) {
		return searchResult{},
			errors.New(`argument "query" has no word to search for: send at least one, such as "graceful shutdown"`)
	} else if err != nil {
		return searchResult{}, fmt.Errorf("search failed: %w", err)
	}
	result.TotalResults = hits.Total
	result.Suggestions = append(result.Suggestions, hits.Suggestions...)
	if hits.Total == 0 {
		result.Message = nothingFound(hits.Suggestions)
	}
	for _, h := range hits.Hits {
		result.Results = append(result.Results, d.found(h))
	}
	if next := offset + len(hits.Hits); next < hits.Total && len(hits.Hits) > 0 {
		result.NextCursor = result.cursor(next)
	}
	return result, nil
}

// nothingFound returns the message for a search without results.
func nothingFound(suggestions []string) string {
	if len(suggestions) > 0 {
		return "nothing was found; try one of the suggestions"
	}
	return "nothing was found; try other words, or call list for the pages of a sector"
}

func (d *docs) found(h search.Hit) found {
	url := d.base + h.Page.URL()
	if h.Anchor != "" {
		url += "#" + h.Anchor
	}
	return found{
		Title: h.Page.Title, Sector: h.Page.Sector.Name, DetailPath: h.Page.Path,
		Excerpt: h.Excerpt, Heading: h.Heading, Anchor: h.Anchor,
		URL: url, Score: math.Round(h.Score*1000) / 1000,
	}
}

// scope returns the place to search. A path must be the path of a page or the prefix of
// pages, in the sector or, without a sector, in any.
func (d *docs) scope(sector, path string) (place, error) {
	at, err := d.locate(sector, path)
	if at.path = strings.TrimSuffix(at.path, "/"); err != nil || at.path == "" {
		return at, err
	}
	sectors := d.library.Sectors()
	name := ""
	if at.sector != nil {
		sectors, name = []*page.Sector{at.sector}, at.sector.Name
	}
	for _, s := range sectors {
		if p := d.library.Find(s.Name, at.path); p != nil {
			return place{sector: at.sector, path: p.Path}, nil
		}
		for _, p := range s.Pages {
			if strings.HasPrefix(p.Path, at.path+"/") {
				return at, nil
			}
		}
	}
	return place{}, d.unknownPage(name, at.path)
}

// cursor encodes the offset of the next results and a hash of the search, so that it is
// invalid for other searches.
func (r searchResult) cursor(offset int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%08x", offset, r.mark()))
}

// offset decodes a cursor.
func (r searchResult) offset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	var offset int
	var mark uint32
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d.%x", &offset, &mark)
	}
	if err != nil || offset < 0 || r.cursor(offset) != cursor || mark != r.mark() {
		return 0, errors.New(`argument "cursor" was not returned by this search: omit it to start with the first result`)
	}
	return offset, nil
}

func (r searchResult) mark() uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%q %q %q", r.Query, r.Sector, r.Path)
	return h.Sum32()
}
