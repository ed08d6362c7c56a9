package engine

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tare/lab"
	"tare/test/labtest"
)

// filesOf unpacks an archive: name -> content.
func filesOf(t *testing.T, archive io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.IsAbs(header.Name) || header.Mode&0o400 == 0 {
			t.Errorf("%s with mode %o", header.Name, header.Mode)
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}

// imageOfLab is the image of a lab's containers.
func imageOfLab(t *testing.T) Image {
	t.Helper()
	image, err := ofLab()
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// The root file system is enough to run the program in it.
func TestRootHoldsAllThatTheProgramLoads(t *testing.T) {
	image := imageOfLab(t)
	var root bytes.Buffer
	if err := image.writeRoot(&root); err != nil {
		t.Fatal(err)
	}
	files := filesOf(t, &root)
	program, err := os.ReadFile(image.Program)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files[image.At[1:]], program) {
		t.Errorf("%s has %d bytes, the program %d", image.At, len(files[image.At[1:]]), len(program))
	}
	for _, place := range append(programFiles(), "/tmp/", lab.Scratch+"/") {
		if _, there := files[place[1:]]; !there {
			t.Errorf("the archive lacks %s", place)
		}
		delete(files, place[1:])
	}
	for _, path := range programFolders() {
		delete(files, path[1:])
	}
	delete(files, image.At[1:])
	loader, _, err := readDynamic(image.Program)
	if err != nil {
		t.Fatal(err)
	}
	if loader == "" {
		if len(files) > 0 {
			t.Errorf("a static program comes with %d more files", len(files))
		}
		return
	}
	listed, err := exec.Command(loader, "--list", image.Program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if !bytes.Contains(listed, []byte(filepath.Base(name))) {
			t.Errorf("%s is not loaded: %s", name, listed)
		}
	}
	if want := bytes.Count(listed, []byte("(0x")) - 1; len(files) != want { // the vdso is no file
		t.Errorf("%d files next to the program, the loader lists\n%s", len(files), listed)
	}
}

func TestImageNamesItsLayer(t *testing.T) {
	var image bytes.Buffer
	if err := imageOfLab(t).Write(&image); err != nil {
		t.Fatal(err)
	}
	files := filesOf(t, &image)
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 || len(manifest[0].RepoTags) != 1 {
		t.Fatalf("manifest %+v, want one image of one layer with one tag", manifest)
	}
	labtest.Equal(t, "tag", manifest[0].RepoTags[0], ImageName)
	var config struct {
		Config struct{ Cmd []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	layer := sha256.Sum256(files[manifest[0].Layers[0]])
	if want := "sha256:" + hex.EncodeToString(layer[:]); len(config.RootFS.DiffIDs) != 1 || config.RootFS.DiffIDs[0] != want {
		t.Errorf("the configuration names layers %v, want %s", config.RootFS.DiffIDs, want)
	}
	if _, there := filesOf(t, bytes.NewReader(files[manifest[0].Layers[0]]))[config.Config.Cmd[0][1:]]; !there {
		t.Errorf("the layer does not hold the command %v", config.Config.Cmd)
	}
}
