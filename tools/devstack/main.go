// Devstack starts database, cache and mail servers for tests and runs a command with
// them.
//
//	devstack [-only KINDS] [--] COMMAND [ARGUMENT...]
//	devstack [-only KINDS]
//	devstack -missing
//
// KINDS is a comma-separated list of postgres, mysql, redis and postfix. Each kind has a
// variable for its connection string: PLINTH_TEST_POSTGRES_DSN, PLINTH_TEST_MYSQL_DSN,
// PLINTH_TEST_REDIS_URL or PLINTH_TEST_SMTP_URL. If the variable is set, devstack uses
// that server. Otherwise it starts a private server and sets the variable for the
// command. It sets PLINTH_TEST_REDIS_TLS_URL to the URL of a private Redis over TLS.
//
// Before the command, devstack prints a table of the servers. The table reports servers
// of the environment that do not respond. If the binary of a kind is not installed, the
// kind is skipped and the table names the package to install. Only root can start
// Postfix.
//
// Without a command, devstack prints the variables in shell syntax and runs until it
// receives a signal. With -missing, it prints the missing Debian packages of servers and,
// without -only, of other programs that tests use: npm and a browser.
//
// The exit code is the exit code of the command. It is 1 if a server fails or a
// connection string is invalid, 2 for invalid arguments, and 127 if the command cannot be
// started.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/devstack/programs"
	"github.com/plinthgo/plinth/tools/devstack/server"
	"github.com/plinthgo/plinth/tools/devstack/stack"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("devstack", flag.ContinueOnError)
	only := flags.String("only", "", "comma-separated `kinds` of servers (default all)")
	missing := flags.Bool("missing", false, "print the missing Debian packages and exit")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	kinds, err := stack.Choose(*only)
	if err != nil {
		return failed(2, err)
	}
	if *missing {
		packages := stack.Packages(os.Getenv, kinds)
		if *only == "" {
			packages = append(packages, programs.Packages()...)
		}
		fmt.Fprintln(os.Stdout, strings.Join(packages, " "))
		return 0
	}
	signals := child.Watch()
	defer signals.Stop()
	return serve(signals, kinds, flags.Args())
}

// serve starts the servers, runs the command and stops the servers.
func serve(signals *child.Signals, kinds []*server.Kind, command []string) (code int) {
	servers, err := stack.Start(signals.Context(), os.Getenv, kinds)
	if err != nil {
		if interrupted := (child.Interrupted{}); errors.As(signals.Err(), &interrupted) {
			return failed(128+int(interrupted.Signal), interrupted)
		}
		return failed(1, err)
	}
	defer func() {
		if err := servers.Close(signals.Context()); err != nil {
			code = max(code, failed(1, err))
		}
	}()
	fmt.Fprintln(os.Stderr, servers.Table())
	if len(command) == 0 {
		fmt.Fprint(os.Stdout, stack.Shell(servers.Env()))
		fmt.Fprintln(os.Stderr, "\nThe servers run until this process is interrupted.")
		<-signals.Context().Done()
		return 0
	}
	cmd := signals.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), servers.Env()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	code, err = signals.Run(cmd)
	if err != nil {
		return failed(127, err)
	}
	return code
}

func failed(code int, err error) int {
	fmt.Fprintln(os.Stderr, "devstack:", err)
	return code
}
