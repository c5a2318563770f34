// Plinth-docs serves the documentation of Plinth.
//
//	plinth-docs serve [--addr HOST:PORT]   serve pages, Markdown and the Model Context Protocol over HTTP
//	plinth-docs mcp                        serve the Model Context Protocol over standard input and output
//	plinth-docs build DIR                  write the site as static files
//	plinth-docs check                      report problems of the content; the exit code is 1 if there are any
//	plinth-docs version
//
// The content is embedded. With --dir, a directory replaces it; serve also watches the
// directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/plinthgo/plinth/docs"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage is the cause of errors of the command line.
var errUsage = errors.New("usage")

// A command is a command of the program.
type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, c *call) error
}

// commands returns the commands in the order of the help.
func commands() []command {
	return []command{
		{
			"serve", "[--addr HOST:PORT] [--base-url URL] [--origin ORIGIN]... [--dir DIR]",
			"serve pages, Markdown and the Model Context Protocol over HTTP", serve,
		},
		{
			"mcp", "[--base-url URL] [--dir DIR]",
			"serve the Model Context Protocol over standard input and output", stdio,
		},
		{
			"build", "[--base-url URL] [--dir DIR] OUTPUT", "write the site as static files",
			build,
		},
		{"check", "[--dir DIR] [--repository DIR]", "report problems of the content", check},
		{"version", "", "print the version", version},
	}
}

// A call is a command with its flags.
type call struct {
	flags      *flag.FlagSet
	out        io.Writer
	dir        string
	baseURL    string
	addr       string
	repository string
	origins    list
}

// list is a repeatable flag.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills the program
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUsage)
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, "plinth-docs:", err)
		os.Exit(exitFailed)
	}
}

// run runs the command of the arguments.
func run(ctx context.Context, arguments []string, out io.Writer) error {
	if len(arguments) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"},
		arguments[0]) {
		if len(arguments) == 0 {
			return fmt.Errorf("%w: plinth-docs COMMAND\n\n%s", errUsage, help())
		}
		_, err := io.WriteString(out, help())
		return err
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == arguments[0] })
	if i < 0 {
		return fmt.Errorf("%w: unknown command %q\n\n%s", errUsage, arguments[0], help())
	}
	c := newCall(all[i].name, out)
	if err := c.flags.Parse(arguments[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, err := fmt.Fprintf(out, "plinth-docs %s %s\n\n%s.\n",
				all[i].name, all[i].arguments, all[i].summary)
			return err
		}
		return fmt.Errorf("%w: %w\n\nplinth-docs %s %s",
			errUsage, err, all[i].name, all[i].arguments)
	}
	return all[i].run(ctx, c)
}

func newCall(name string, out io.Writer) *call {
	c := &call{flags: flag.NewFlagSet(name, flag.ContinueOnError), out: out}
	c.flags.SetOutput(io.Discard)
	if name == "version" {
		return c
	}
	c.flags.StringVar(&c.dir, "dir", "",
		"directory of the content; the default is the embedded content")
	switch name {
	case "check":
		c.flags.StringVar(&c.repository, "repository", "",
			"root of the repository to compare with the pages")
		return c
	case "serve":
		c.flags.StringVar(&c.addr, "addr", "127.0.0.1:8080", "address to listen on")
		c.flags.Var(&c.origins, "origin",
			"additional origin that may call the protocol; repeatable")
	}
	c.flags.StringVar(&c.baseURL, "base-url", "", "public address of the site")
	return c
}

func help() string {
	var b strings.Builder
	b.WriteString("The documentation of Plinth, for users and language models.\n\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(&b, "  plinth-docs %s\n        %s\n",
			strings.TrimSpace(c.name+" "+c.arguments), c.summary)
	}
	return b.String()
}

// site returns the site for the flags.
func (c *call) site() (*docs.Site, error) {
	opts := []docs.Option{docs.WithOrigins(c.origins...)}
	if c.dir != "" {
		opts = append(opts, docs.WithFolder(c.dir))
	}
	if c.baseURL != "" {
		opts = append(opts, docs.WithBaseURL(c.baseURL))
	}
	return docs.New(opts...)
}

// noArguments returns an error if arguments follow the flags.
func (c *call) noArguments() error {
	if c.flags.NArg() > 0 {
		return fmt.Errorf("%w: %s accepts no argument, got %q",
			errUsage, c.flags.Name(), c.flags.Arg(0))
	}
	return nil
}
