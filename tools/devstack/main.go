// Devstack runs a command with database, cache and mail servers for its tests.
//
//	devstack [-only KINDS] [--] COMMAND [ARGUMENT...]
//	devstack [-only KINDS]
//	devstack -missing
//
// KINDS are of postgres, mysql, redis, postfix, separated by commas. A server whose
// connection string is in the environment (PLINTH_TEST_POSTGRES_DSN,
// PLINTH_TEST_MYSQL_DSN, PLINTH_TEST_REDIS_URL, PLINTH_TEST_SMTP_URL) is left as it is;
// the table before the command says so where it does not answer. Else a private one is
// started if its binary is on the machine, and the command finds its connection string in
// the same variable; that of a Redis over TLS is in PLINTH_TEST_REDIS_TLS_URL. Else the
// kind is skipped, and the table says what to install. Only root can start a Postfix.
//
// Without a command devstack prints the variables for a shell, and stops the servers when
// it gets a signal. With -missing it only prints the Debian packages of the kinds that
// would be skipped, and, unless -only chooses kinds, of the other programs that tests
// start: npm and a browser.
//
// The exit code is the command's; 1 when a server failed or a connection string does not
// parse, 2 for wrong arguments, 127 when the command cannot be run.
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
	only := flags.String("only", "",
		"the `kinds` of server to have, separated by commas; all by default")
	missing := flags.Bool("missing",
		false, "only print the Debian packages of what is missing for the tests")
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
		fmt.Fprintln(os.Stderr, "\nThe servers run until this process gets an interrupt.")
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
