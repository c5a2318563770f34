package server

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// inherit sets the signal that the kernel sends when this process exits.
func inherit(attributes *syscall.SysProcAttr, death syscall.Signal) { attributes.Pdeathsig = death }

// children returns the child processes of pid.
func children(pid int) []int {
	var found []int
	for _, p := range processes() {
		if p.parent == pid {
			found = append(found, p.pid)
		}
	}
	return found
}

// grouped reports whether the group has a running process. Zombies do not count.
func grouped(group int) bool {
	return slices.ContainsFunc(processes(),
		func(p status) bool { return p.group == group && !p.exited })
}

// status is the status of a process.
type status struct {
	pid, parent, group int
	exited             bool
}

// processes returns the status of all processes.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func processes() []status {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var all []status
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has exited
		}
		// pid (name) state parent group ...; the name may contain any character
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
				exited: words[0] == "Z" || words[0] == "X",
			})
		}
	}
	return all
}
