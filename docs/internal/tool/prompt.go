package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// promptHits is the number of search results in the prompt.
const promptHits = 5

const promptName = "ask"

// addPrompt adds the prompt ask. It contains search results for the question, which saves
// the model one call.
func (d *docs) addPrompt(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{
		Name: promptName, Title: "Ask the documentation",
		Description: "Answers a question about Plinth from its documentation, with addresses of the pages.",
		Arguments: []*mcp.PromptArgument{
			{
				Name: "question", Title: "Question",
				Description: "The question, in English or Chinese.", Required: true,
			},
			{
				Name: "sector", Title: "Sector",
				Description: "Search only this sector. One of: " + d.names() + ".",
			},
		},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text, err := d.ask(strings.TrimSpace(r.Params.Arguments["question"]),
			strings.TrimSpace(r.Params.Arguments["sector"]))
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		return &mcp.GetPromptResult{
			Description: "A question about Plinth.",
			Messages: []*mcp.PromptMessage{{
				Role:    "user",
				Content: &mcp.TextContent{Text: text},
			}},
		}, nil
	})
}

func (d *docs) ask(question, sector string) (string, error) {
	if question == "" {
		return "", errors.New(
			`prompt ask: argument "question" is required: send a question`)
	}
	result, err := d.search(arguments{
		strings: map[string]string{"query": question, "sector": sector},
		numbers: map[string]int{"limit": promptHits},
	})
	if err != nil {
		return "", fmt.Errorf("prompt ask: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Answer this question from the documentation of Plinth:\n\n%s\n\n", question)
	if len(result.Results) > 0 {
		b.WriteString("Search results:\n")
		for _, f := range result.Results {
			fmt.Fprintf(&b, "- %s (sector %s, path %s): %s\n",
				strings.TrimSuffix(f.Title+", "+f.Heading, ", "), f.Sector, f.DetailPath, f.Excerpt)
		}
		b.WriteString("\n")
	}
	b.WriteString("Read the relevant pages with the tool detail. If they do not answer the question, search with other words. " +
		"Cite the address of each page that supports the answer. If the documentation has no answer, say that.\n")
	return b.String(), nil
}
