package xmain

import (
	"context"
	"io"
	"net"

	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// SetExit replaces the end of the process and returns a function that puts it back.
func SetExit(fn func(code int)) (restore func()) {
	old := exit
	exit = fn
	return func() { exit = old }
}

// SetTerminal makes w the terminal and returns a function that puts the former one back.
func SetTerminal(w io.Writer) (restore func()) {
	old := terminal
	terminal = func() io.Writer { return w }
	return func() { terminal = old }
}

// Wrap returns l as the Runner serves it, and what makes it refuse new connections.
func Wrap(l net.Listener) (wrapped net.Listener, refuse func(context.Context)) {
	w := newListener(l, 0)
	return w, w.refuse
}

// Listen returns the listener of a service at an address, and what makes it refuse new
// connections.
func Listen(
	ctx context.Context, addr string,
) (l net.Listener, refuse func(context.Context), err error) {
	own, err := listen(ctx, startup.Settings{Address: addr})
	if err != nil {
		return nil, nil, err
	}
	return own, own.refuse, nil
}

// WithWriteTimeout is what every accepted connection passes through.
var WithWriteTimeout = withWriteTimeout
