package engine

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"tare/lab"
	"tare/test/labtest"
)

// What was pushed is pulled for each architecture, with the program in it.
func TestPushedImageIsPulled(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	image := Image{Name: "localhost/tare:1", Arch: "arm64", Entrypoint: []string{lab.SelfInImage}}
	here := image
	here.Arch = "amd64"
	to := strings.TrimPrefix(server.URL, "http://") + "/tools/tare:1"
	pushed, err := Push(t.Context(), to, []Image{here, image})
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "it is named by its digest", strings.Contains(pushed, "/tools/tare@sha256:"), true)
	ref, err := name.ParseReference(pushed)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for n, arch := range []string{"amd64", "arm64"} {
		labtest.Equal(t, "architecture", manifest.Manifests[n].Platform.Architecture, arch)
		pulled, err := index.Image(manifest.Manifests[n].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := pulled.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "architecture of the image", config.Architecture, arch)
		root := mutate.Extract(pulled)
		labtest.Equal(t, "it holds the program", len(filesOf(t, root)[lab.SelfInImage[1:]]) > 0, true)
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPushSaysWhatIsWrong(t *testing.T) {
	_, err := Push(t.Context(), "Not A Name", nil)
	labtest.Contains(t, "error", err.Error(), "write REGISTRY/NAME:TAG")
	server := httptest.NewServer(registry.New())
	server.Close()
	_, err = Push(t.Context(), strings.TrimPrefix(server.URL, "http://")+"/tare:1", nil)
	labtest.Contains(t, "error", err.Error(), "docker login")
}
