package xreg

import (
	"io/fs"
	"slices"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// kubernetesHost is set by Kubernetes in every container.
const kubernetesHost xenv.EnvKey = "KUBERNETES_SERVICE_HOST"

// inContainer reports whether the process runs in a container, as far as Kubernetes or the marker file of
// Docker or Podman in the file system at root show it.
func inContainer(root fs.FS) bool {
	if _, set := xenv.GetEnv(kubernetesHost); set {
		return true
	}
	return slices.ContainsFunc([]string{".dockerenv", "run/.containerenv"}, func(name string) bool {
		_, err := fs.Stat(root, name)
		return err == nil
	})
}
