package server

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// inherit makes the kernel send the signal when this process dies.
func inherit(attributes *syscall.SysProcAttr, death syscall.Signal) { attributes.Pdeathsig = death }

// children returns the processes that pid has started.
func children(pid int) []int {
	var found []int
	for _, p := range processes() {
		if p.parent == pid {
			found = append(found, p.pid)
		}
	}
	return found
}

// grouped reports whether a process of the group runs. One that only waits to be reaped
// does not.
func grouped(group int) bool {
	return slices.ContainsFunc(processes(),
		func(p status) bool { return p.group == group && !p.ended })
}

// status is what the kernel says of a process.
type status struct {
	pid, parent, group int
	ended              bool
}

// processes returns all of them.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func processes() []status {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var all []status
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent group ...; the name may hold anything
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(words) < 3 {
			continue
		}
		pid, pidErr := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, parentErr := strconv.Atoi(words[1])
		group, groupErr := strconv.Atoi(words[2])
		if pidErr == nil && parentErr == nil && groupErr == nil {
			all = append(all, status{
				pid: pid, parent: parent, group: group,
				ended: words[0] == "Z" || words[0] == "X",
			})
		}
	}
	return all
}
