// Plinth-docs shows the documentation of Plinth.
//
//	plinth-docs serve [--addr HOST:PORT]   pages, texts for language models, and the protocol's endpoint over HTTP
//	plinth-docs mcp                        the Model Context Protocol over standard input and output
//	plinth-docs build DIR                  the whole site as static files
//	plinth-docs check                      what is wrong with the content: exit code 1 where something is
//	plinth-docs version
//
// The content is inside the program; --dir shows that of a folder, and serve watches it.
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

// errUsage is the cause of a command line that says nothing which can be done.
var errUsage = errors.New("usage")

// A command is one word of the command line with what it does.
type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, c *call) error
}

// commands in the order of the help.
func commands() []command {
	return []command{
		{
			"serve", "[--addr HOST:PORT] [--base-url URL] [--origin ORIGIN]... [--dir DIR]",
			"serve pages, texts and the protocol over HTTP", serve,
		},
		{
			"mcp", "[--base-url URL] [--dir DIR]",
			"speak the Model Context Protocol over standard input and output", stdio,
		},
		{
			"build", "[--base-url URL] [--dir DIR] FOLDER", "write the whole site as static files",
			build,
		},
		{"check", "[--dir DIR] [--repository DIR]", "report what is wrong with the content", check},
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

// list is a flag that may stand several times.
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
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
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

// run does what the arguments say.
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
		return fmt.Errorf("%w: there is no command %q\n\n%s", errUsage, arguments[0], help())
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
	c.flags.StringVar(&c.dir, "dir", "", "folder of the content instead of the embedded one")
	switch name {
	case "check":
		c.flags.StringVar(&c.repository, "repository", "",
			"root of the repository whose code the pages quote")
		return c
	case "serve":
		c.flags.StringVar(&c.addr, "addr", "127.0.0.1:8080", "address to listen on")
		c.flags.Var(&c.origins, "origin", "further origin whose scripts may call the protocol")
	}
	c.flags.StringVar(&c.baseURL, "base-url", "", "where the site is reached")
	return c
}

func help() string {
	var b strings.Builder
	b.WriteString("The documentation of Plinth, for people and language models.\n\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(&b, "  plinth-docs %s\n        %s\n",
			strings.TrimSpace(c.name+" "+c.arguments), c.summary)
	}
	return b.String()
}

// site opens the site that the flags describe.
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

// noArguments refuses what stands behind the flags.
func (c *call) noArguments() error {
	if c.flags.NArg() > 0 {
		return fmt.Errorf("%w: %s takes no argument, not %q",
			errUsage, c.flags.Name(), c.flags.Arg(0))
	}
	return nil
}
