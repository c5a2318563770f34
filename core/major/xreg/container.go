package xreg

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// kubernetesHost is set by Kubernetes in every container.
const kubernetesHost xenv.EnvKey = "KUBERNETES_SERVICE_HOST"

// inContainer reports whether the process appears to run in a container. It checks for
// Kubernetes, the marker files of Docker and Podman, and the control group of process 1
// under root.
func inContainer(root fs.FS) bool {
	if _, set := xenv.GetEnv(kubernetesHost); set {
		return true
	}
	for _, name := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(root, name); err == nil {
			return true
		}
	}
	groups, _ := fs.ReadFile(root, "proc/1/cgroup")
	return slices.ContainsFunc([]string{"docker", "kubepods", "containerd", "libpod", "lxc"},
		func(runtime string) bool {
			return strings.Contains(string(groups), runtime)
		})
}
