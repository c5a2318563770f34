package xmain

import (
	"context"
	"io"
	"net"
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
	w := newListener(l)
	return w, w.refuse
}
