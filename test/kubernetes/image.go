package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// image is the name of the image that each node has.
const image = "localhost/busybox:lab"

// writeImage writes an image of Debian's static busybox, with a link for each of
// its commands, as an archive that `ctr images import` accepts.
func writeImage(path string) error {
	layer, err := imageLayer()
	if err != nil {
		return fmt.Errorf("make image %s: %w: apt-get install busybox-static", image, err)
	}
	digest := sha256.Sum256(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": runtime.GOOS,
		"config": map[string]any{"Cmd": []string{"sh"}, "Env": []string{"PATH=/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(digest[:])}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{
		{"Config": "config.json", "RepoTags": []string{image}, "Layers": []string{"layer.tar"}},
	})
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err = errors.Join(
		add(w, tar.Header{Name: "config.json", Mode: 0o644}, config),
		add(w, tar.Header{Name: "layer.tar", Mode: 0o644}, layer),
		add(w, tar.Header{Name: "manifest.json", Mode: 0o644}, manifest),
		w.Close())
	if err != nil {
		return fmt.Errorf("make image %s: %w", image, err)
	}
	return writeFile(path, archive.Bytes(), 0o644)
}

// imageLayer is the image's root file system.
func imageLayer() ([]byte, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	if err := static(busybox); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		return nil, err
	}
	names, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list commands of %s: %w", busybox, err)
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	errs := []error{
		add(w, tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, nil),
		add(w, tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil),
		add(w, tar.Header{Name: "bin/busybox", Mode: 0o755}, program),
	}
	for _, name := range strings.Fields(string(names)) {
		if name != "busybox" {
			errs = append(errs, add(w, tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}, nil))
		}
	}
	err = errors.Join(append(errs, w.Close())...)
	return layer.Bytes(), err
}

// static fails unless a program needs no library: the image has none.
func static(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not static", path)
		}
	}
	return nil
}

// add adds one entry to an archive.
func add(w *tar.Writer, header tar.Header, content []byte) error {
	header.Size = int64(len(content))
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
