// Package guard calls functions that may panic or never return.
package guard

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is the error that Run and Call return for a panic.
type PanicError struct {
	// Value is the argument of panic.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error returns the value of the panic without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Run calls fn and converts a panic into a *PanicError.
func Run(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}

// Call runs fn in a new goroutine and waits until fn returns or ctx is done. It converts
// a panic into a *PanicError. If ctx is done first, Call returns an error that wraps the
// cause of ctx, and abandons the goroutine.
func Call(ctx context.Context, fn func(ctx context.Context) error) error {
	done := make(chan error, 1)
	go func() {
		done <- Run(func() error { return fn(ctx) })
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done: // fn returned at the same time
		return err
	default:
		return fmt.Errorf("still running: %w", context.Cause(ctx))
	}
}
