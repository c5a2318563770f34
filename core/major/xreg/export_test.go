package xreg

// SetExit replaces the end of the process and returns a function that puts it back.
func SetExit(fn func(code int)) (restore func()) {
	old := exit
	exit = fn
	return func() { exit = old }
}
