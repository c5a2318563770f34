package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/plinthgo/plinth/docs"
)

// stdio serves the protocol over standard input and output. It logs to standard error.
func stdio(ctx context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	site, err := c.site()
	if err != nil {
		return err
	}
	return site.ServeStdio(ctx)
}

// build writes the site as static files.
func build(_ context.Context, c *call) error {
	if c.flags.NArg() != 1 {
		return fmt.Errorf("%w: build requires one output directory", errUsage)
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	if err := site.Build(c.flags.Arg(0)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "written to %s\n", c.flags.Arg(0))
	return err
}

func version(_ context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.out, "plinth-docs", docs.Version())
	return err
}
