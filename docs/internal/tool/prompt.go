package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// promptHits is how many results of a search the prompt begins with.
const promptHits = 5

const promptName = "ask"

// addPrompt offers a question with what a search for it finds, which spares the model its
// first call.
func (d *docs) addPrompt(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{
		Name: promptName, Title: "Ask the documentation",
		Description: "Answers a question about Plinth from its documentation, with addresses of the pages.",
		Arguments: []*mcp.PromptArgument{
			{
				Name: "question", Title: "Question",
				Description: "What you want to know, in English or Chinese.", Required: true,
			},
			{
				Name: "sector", Title: "Sector",
				Description: "Look in this sector only. One of: " + d.names() + ".",
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
			`prompt ask: argument "question" is required: send what you want to know`)
	}
	result, err := d.search(arguments{
		texts:   map[string]string{"query": question, "sector": sector},
		numbers: map[string]int{"limit": promptHits},
	})
	if err != nil {
		return "", fmt.Errorf("prompt ask: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Answer this question from the documentation of Plinth:\n\n%s\n\n", question)
	if len(result.Results) > 0 {
		b.WriteString("A search for it finds:\n")
		for _, f := range result.Results {
			fmt.Fprintf(&b, "- %s (sector %s, path %s): %s\n",
				strings.TrimSuffix(f.Title+", "+f.Heading, ", "), f.Sector, f.DetailPath, f.Excerpt)
		}
		b.WriteString("\n")
	}
	b.WriteString("Read the pages that matter with the tool detail, and search with other words where these do not answer it. " +
		"Name the address of each page that the answer rests on. Where the documentation does not say it, say so.\n")
	return b.String(), nil
}
