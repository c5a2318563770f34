package xmain

import (
	"context"
	"io"
	"net"

	"github.com/plinthgo/plinth/core/major/internal/startup"
)

// SetExit replaces os.Exit until restore is called.
func SetExit(fn func(code int)) (restore func()) {
	old := exit
	exit = fn
	return func() { exit = old }
}

// SetTerminal replaces the terminal with w until restore is called.
func SetTerminal(w io.Writer) (restore func()) {
	old := terminal
	terminal = func() io.Writer { return w }
	return func() { terminal = old }
}

// Wrap returns l as the Runner uses it, and its stopAccepting method.
func Wrap(l net.Listener) (wrapped net.Listener, stopAccepting func(context.Context)) {
	w := newListener(l, 0)
	return w, w.stopAccepting
}

// Listen returns the listener of a service on addr, and its stopAccepting method.
func Listen(
	ctx context.Context, addr string,
) (l net.Listener, stopAccepting func(context.Context), err error) {
	wrapped, err := listen(ctx, startup.Settings{Address: addr})
	if err != nil {
		return nil, nil, err
	}
	return wrapped, wrapped.stopAccepting, nil
}

// WithWriteTimeout exports withWriteTimeout.
var WithWriteTimeout = withWriteTimeout
