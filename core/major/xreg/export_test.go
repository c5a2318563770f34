package xreg

// SetExit replaces os.Exit until restore is called.
func SetExit(fn func(code int)) (restore func()) {
	old := exit
	exit = fn
	return func() { exit = old }
}

// SetTerminal sets whether the program runs in a terminal until restore is called.
func SetTerminal(is bool) (restore func()) {
	old := atTerminal
	atTerminal = func() bool { return is }
	return func() { atTerminal = old }
}
