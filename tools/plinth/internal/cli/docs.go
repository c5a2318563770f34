package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/docs"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

func newDocs(*term.Printer) *cobra.Command {
	var dir, baseURL string
	c := &cobra.Command{
		Use:     "docs",
		GroupID: groupCare,
		Short:   "Give a language model the documentation, over standard input and output",
		Long: "Speak the Model Context Protocol over standard input and output: the documentation's tools to search and read it, for an\n" +
			"editor or an agent that starts this command. The content is inside the program.",
		Example:           "  claude mcp add plinth -- plinth docs\n  plinth docs --base-url https://docs.example.com",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return serveDocs(c.Context(), dir, baseURL)
		},
	}
	c.Flags().StringVar(&dir, "dir", "",
		"folder of the content instead of the one inside the program")
	c.Flags().StringVar(&baseURL, "base-url", "", "where the pages are reached, for the links")
	if err := c.MarkFlagDirname("dir"); err != nil {
		panic(err)
	}
	return c
}

func serveDocs(ctx context.Context, dir, baseURL string) error {
	var opts []docs.Option
	if dir != "" {
		opts = append(opts, docs.WithFolder(dir))
	}
	if baseURL != "" {
		opts = append(opts, docs.WithBaseURL(baseURL))
	}
	site, err := docs.New(opts...)
	if err != nil {
		return err
	}
	defer func() { _ = site.Close() }()
	return site.ServeStdio(ctx)
}
