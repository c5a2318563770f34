package xreg

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/plinthgo/plinth/core/major/internal/startup"
)

func TestInContainer(t *testing.T) {
	for _, tc := range []struct {
		name, kubernetes string
		root             fs.FS
		want             bool
	}{
		{name: "host", root: fstest.MapFS{"proc/1/cgroup": {Data: []byte("0::/init.scope\n")}}},
		{name: "no proc", root: fstest.MapFS{}},
		{name: "Docker", root: fstest.MapFS{".dockerenv": {}}, want: true},
		{name: "Podman", root: fstest.MapFS{"run/.containerenv": {}}, want: true},
		{
			name: "control group",
			root: fstest.MapFS{
				"proc/1/cgroup": {Data: []byte("11:pids:/kubepods/besteffort/pod1\n")},
			},
			want: true,
		},
		{name: "Kubernetes", kubernetes: "10.0.0.1", root: fstest.MapFS{}, want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(kubernetesHost.String(), tc.kubernetes)
			if got := inContainer(tc.root); got != tc.want {
				t.Errorf("inContainer = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestCheckProxies(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.0/8": true, "192.0.2.7": true, "::1": true, "fd00::/8": true,
		"": false, "example.org": false, "10.0.0.0/33": false, "fe80::1%eth0": false,
		"10.0.0.0/8,": false,
	} {
		err := checkProxies(&startup.Settings{TrustedProxies: []string{text}})
		if (err == nil) != want {
			t.Errorf("checkProxies(%q) = %v, want valid = %t", text, err, want)
		}
	}
}
