package tool

import (
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

type (
	sectorResult struct {
		Sectors []string       `json:"sectors" jsonschema:"names of the sectors, for the argument sector of the other tools"`
		Details []sectorDetail `json:"details" jsonschema:"the same sectors in the same order"`
	}
	sectorDetail struct {
		Name        string `json:"name" jsonschema:"name of the sector"`
		Title       string `json:"title" jsonschema:"display title"`
		Description string `json:"description" jsonschema:"contents of the sector"`
	}

	listResult struct {
		Sector    string     `json:"sector" jsonschema:"name of the sector"`
		BaseURL   string     `json:"baseUrl" jsonschema:"web address of the sector; append a path for a page"`
		Documents []document `json:"documents" jsonschema:"pages in reading order"`
	}
	document struct {
		Path        string `json:"path" jsonschema:"path of the page within the sector, for detail"`
		Title       string `json:"title" jsonschema:"title of the page"`
		Description string `json:"description" jsonschema:"subject of the page"`
	}

	detailResult struct {
		Sector  string `json:"sector" jsonschema:"name of the sector"`
		Path    string `json:"path" jsonschema:"path of the page within the sector"`
		Title   string `json:"title" jsonschema:"title of the page"`
		URL     string `json:"url" jsonschema:"web address of the page"`
		Content string `json:"content" jsonschema:"the whole page in Markdown"`
	}
)

func (d *docs) sectorTool() definition {
	return definition{
		name: "sector", title: "Sectors of the documentation",
		description: "Lists the sectors of the documentation of Plinth with their contents. " +
			"Call it first for an overview, then list. To find a topic, call search instead.",
		output: outputSchema[sectorResult](),
		run: func(arguments) (any, string, error) {
			result := sectorResult{Sectors: []string{}, Details: []sectorDetail{}}
			for _, s := range d.library.Sectors() {
				result.Sectors = append(result.Sectors, s.Name)
				result.Details = append(result.Details,
					sectorDetail{Name: s.Name, Title: s.Title, Description: s.Description})
			}
			return result, "", nil
		},
	}
}

// sectorParameter returns the parameter sector, which all tools share.
func (d *docs) sectorParameter(description string) parameter {
	return parameter{
		name: "sector", description: description + " One of: " + d.names() + ".",
		hint: d.sectorHint(),
	}
}

func (d *docs) listTool() definition {
	sector := d.sectorParameter("Name of the sector.")
	sector.required = true
	return definition{
		name: "list", title: "Pages of a sector",
		description: "Lists the pages of a sector with path, title and description, in reading order. " +
			"With search, only pages that contain all of its words. Read a page with detail. For ranked results with excerpts, call search instead.",
		parameters: parameters{sector, {
			name: "search", description: "Words that a page must contain in its title, description, path or text. Case is ignored.",
		}},
		output: outputSchema[listResult](),
		run: func(args arguments) (any, string, error) {
			s, err := d.sector(args.strings["sector"])
			if err != nil {
				return nil, "", err
			}
			return d.list(s, args.strings["search"]), "", nil
		},
	}
}

func (d *docs) list(s *page.Sector, search string) listResult {
	result := listResult{
		Sector: s.Name, BaseURL: d.base + "/docs/" + s.Name,
		Documents: []document{},
	}
	wanted := strings.Fields(strings.ToLower(search))
	for _, p := range s.Pages {
		if len(wanted) == 0 || containsAll(words(p), wanted) {
			result.Documents = append(result.Documents,
				document{Path: p.Path, Title: p.Title, Description: p.Description})
		}
	}
	return result
}

// words returns the text of a page in lower case, without markup and link targets.
func words(p *page.Page) string {
	parts := []string{p.Title, p.Description, p.Path}
	for _, s := range p.Sections {
		parts = append(parts, s.Heading, s.Text)
	}
	return strings.ToLower(strings.Join(parts, "\n"))
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (d *docs) detailTool() definition {
	sector := d.sectorParameter("Name of the sector.")
	sector.required = true
	return definition{
		name: "detail", title: "Page of the documentation",
		description: "Returns a whole page in Markdown. Use the path of list or the detailPath of search. " +
			"The path may be a URL of the site; an anchor is ignored.",
		parameters: parameters{sector, {
			name: "path", description: "Path of the page within the sector, such as /quick-start.",
			required: true,
			hint:     `call list for the paths of a sector; "/" is its index`,
		}},
		output: outputSchema[detailResult](),
		run: func(args arguments) (any, string, error) {
			at, err := d.locate(args.strings["sector"], args.strings["path"])
			if err != nil {
				return nil, "", err
			}
			p, err := d.page(at)
			if err != nil {
				return nil, "", err
			}
			text := p.Markdown()
			return detailResult{
				Sector: p.Sector.Name, Path: p.Path, Title: p.Title,
				URL: d.base + p.URL(), Content: text,
			}, text, nil
		},
	}
}
