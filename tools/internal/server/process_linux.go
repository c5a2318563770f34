package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// inherit makes the kernel send the signal when this process dies.
func inherit(attributes *syscall.SysProcAttr, death syscall.Signal) { attributes.Pdeathsig = death }

// children returns the processes that pid has started.
func children(pid int) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent ...; the name may hold anything
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && len(words) > 1 && words[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}
