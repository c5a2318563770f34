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
		GroupID: groupMaintain,
		Short:   "Serve the documentation to editors and agents over MCP",
		Long: "Serve the documentation over the Model Context Protocol on standard input and output.\n\n" +
			"An editor or agent starts this command and gets tools that search and read the documentation.\n" +
			"The documentation is embedded in the program.",
		Example:           "  claude mcp add plinth -- plinth docs\n  plinth docs --base-url https://docs.example.com",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return serveDocs(c.Context(), dir, baseURL)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory of the documentation (default: embedded)")
	c.Flags().StringVar(&baseURL, "base-url", "", "base URL of links to pages")
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
