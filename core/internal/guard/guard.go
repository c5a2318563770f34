// Package guard calls functions that may panic or never return.
package guard

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that became an error.
type PanicError struct {
	// Value is what was given to panic.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error says what was given to panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Run calls fn and turns a panic into a *PanicError.
func Run(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}

// Call runs fn until it returns or ctx ends. A panic is a *PanicError; an fn that goes on
// after the end of ctx is left behind, and the error says so.
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
	case err := <-done: // it ended at the same moment
		return err
	default:
		return fmt.Errorf("still running: %w", context.Cause(ctx))
	}
}
