package xreg

import (
	"io/fs"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// kubernetesHost is set by Kubernetes in every container.
const kubernetesHost xenv.EnvKey = "KUBERNETES_SERVICE_HOST"

// inContainer reports whether the process runs in a container, as far as the file system at root shows it:
// by the marker file of Docker or Podman, or by the control group of the first process.
func inContainer(root fs.FS) bool {
	if _, set := xenv.GetEnv(kubernetesHost); set {
		return true
	}
	for _, name := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(root, name); err == nil {
			return true
		}
	}
	groups, err := fs.ReadFile(root, "proc/1/cgroup")
	if err != nil {
		return false
	}
	for _, word := range []string{"docker", "kubepods", "containerd", "libpod", "lxc"} {
		if strings.Contains(string(groups), word) {
			return true
		}
	}
	return false
}
