package xlog

// RenderTerminal is what a terminal shows for a line of JSON.
func RenderTerminal(color bool, line string) string {
	return string(newTerminal(color).appendLine(nil, []byte(line)))
}
