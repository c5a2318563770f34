package xreg

// SetExit replaces the end of the process and returns a function that puts it back.
func SetExit(fn func(code int)) (restore func()) {
	old := exit
	exit = fn
	return func() { exit = old }
}

// SetTerminal says whether the program runs at a terminal and returns a function that
// puts the truth back.
func SetTerminal(is bool) (restore func()) {
	old := atTerminal
	atTerminal = func() bool { return is }
	return func() { atTerminal = old }
}
