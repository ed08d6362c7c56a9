package engine

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"tare/lab"
)

// ImageName is the name of the image of a lab's containers.
const ImageName = "localhost/tare:lab"

// Image is a container image that holds one program, as a rule a tare.
type Image struct {
	Name       string
	Program    string // the file; empty: this one
	At         string // where the image has it; empty: lab.SelfInImage
	Arch       string // of the program, as Go calls it; empty: this one's
	Labels     map[string]string
	Entrypoint []string
	Cmd        []string
	// Surroundings has it hold the files, too, that the machine's programs expect outside
	// their own folders: a container of it can run them.
	Surroundings bool
}

// ofLab is the image of the containers of labs. They mount this binary, which is large, and
// each engine would have its own copy in memory. What runs without mounts, as the first process
// of a pod does, sleeps.
func ofLab() (Image, error) {
	sleep, err := Program("sleep")
	if err != nil {
		return Image{}, err
	}
	const at = "/pause/sleep" // by its name it knows what to do where one program is several
	return Image{Name: ImageName, Program: sleep, At: at, Cmd: []string{at, "infinity"}, Surroundings: true}, nil
}

// writeRoot writes the image's root file system as a tar archive. Where the program is linked
// dynamically, its loader and libraries are included.
func (i Image) writeRoot(w io.Writer) error {
	libraries, err := librariesOf(cmp.Or(i.Program, lab.Self))
	if err != nil {
		return fmt.Errorf("make root file system: %w", err)
	}
	archive := tar.NewWriter(w)
	if err := addFile(archive, cmp.Or(i.At, lab.SelfInImage), cmp.Or(i.Program, lab.Self)); err != nil {
		return fmt.Errorf("make root file system: %w", err)
	}
	if i.Surroundings {
		if err := addSurroundings(archive); err != nil {
			return fmt.Errorf("make root file system: %w", err)
		}
	}
	for _, path := range libraries {
		name, err := resolved(path)
		if err == nil {
			err = addFile(archive, name, path)
		}
		if err != nil {
			return fmt.Errorf("make root file system: %w", err)
		}
	}
	return archive.Close()
}

// addFile adds a file under an absolute name, less its first slash.
func addFile(archive *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name[1:], Mode: int64(info.Mode().Perm()), Size: info.Size()})
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// librariesOf lists the loader of a program and the libraries that it loads, by
// the paths at which the loader looks; a static program has none. The libraries
// are in the loader's folder, as the C library itself is.
func librariesOf(program string) ([]string, error) {
	loader, needed, err := readDynamic(program)
	if err != nil || loader == "" {
		return nil, err
	}
	resolvedLoader, err := filepath.EvalSymlinks(loader)
	if err != nil {
		return nil, err
	}
	paths := []string{loader}
	for len(needed) > 0 {
		path := filepath.Join(filepath.Dir(resolvedLoader), needed[0])
		needed = needed[1:]
		if path == resolvedLoader || slices.Contains(paths, path) {
			continue // it is listed already: the C library names its loader
		}
		_, more, err := readDynamic(path)
		if err != nil {
			return nil, err
		}
		paths, needed = append(paths, path), append(needed, more...)
	}
	return paths, nil
}

// readDynamic reads which loader and libraries an ELF file names.
func readDynamic(path string) (loader string, needed []string, err error) {
	file, err := elf.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(segment.Open())
			if err != nil {
				return "", nil, fmt.Errorf("read loader of %s: %w", path, err)
			}
			loader = string(bytes.TrimRight(name, "\x00"))
		}
	}
	needed, err = file.ImportedLibraries()
	if err != nil {
		return "", nil, fmt.Errorf("read libraries of %s: %w", path, err)
	}
	return loader, needed, nil
}

// Write writes the image as an archive that `docker load`, `podman load` and `ctr images
// import` accept: one layer, writeRoot's (docker's image specification 1.2).
func (i Image) Write(w io.Writer) error {
	// The root file system is written twice, first to compute its digest and size: with a
	// tare in it, it is too large to hold in memory.
	layer := sha256.New()
	var size counter
	if err := i.writeRoot(io.MultiWriter(layer, &size)); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": cmp.Or(i.Arch, runtime.GOARCH),
		"os":           runtime.GOOS,
		"config":       map[string]any{"Entrypoint": i.Entrypoint, "Cmd": i.Cmd, "Labels": i.Labels},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(layer.Sum(nil))}},
	})
	if err != nil {
		return fmt.Errorf("make image: %w", err)
	}
	manifest, err := json.Marshal([]map[string]any{
		{"Config": "config.json", "RepoTags": []string{i.Name}, "Layers": []string{"layer.tar"}},
	})
	if err != nil {
		return fmt.Errorf("make image: %w", err)
	}
	archive := tar.NewWriter(w)
	text := func(text []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(text); return err }
	}
	for _, file := range []struct {
		name  string
		size  int64
		write func(io.Writer) error
	}{
		{"config.json", int64(len(config)), text(config)},
		{"layer.tar", int64(size), i.writeRoot},
		{"manifest.json", int64(len(manifest)), text(manifest)},
	} {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: 0o644, Size: file.size}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("make image: %w", err)
		}
		if err := file.write(archive); err != nil {
			return fmt.Errorf("make image: %w", err)
		}
	}
	return archive.Close()
}

// counter counts the bytes written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// WriteImage writes the image of a lab's containers into a host's lab.Scratch and returns its
// path in the host, which gets this binary, too, for its containers to mount.
func WriteImage(h *lab.Host) (path string, err error) {
	image, err := ofLab()
	if err != nil {
		return "", fmt.Errorf("write image in %s: %w", h.Name, err)
	}
	path = filepath.Join(lab.Scratch, "image.tar")
	err = h.Inside(func() error {
		if err := os.MkdirAll(lab.Scratch, 0o755); err != nil {
			return err
		}
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(image.Write(file), file.Close())
	})
	if err != nil {
		return "", fmt.Errorf("write image in %s: %w", h.Name, err)
	}
	return path, provide(h)
}

// WriteRoot is WriteImage for an engine without images: it writes the root file system into a
// new folder of the host.
func WriteRoot(h *lab.Host, folder string) error {
	image, err := ofLab()
	if err != nil {
		return fmt.Errorf("write root file system in %s: %w", h.Name, err)
	}
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(image.writeRoot(writer)) }()
	err = h.Inside(func() error { return unpack(tar.NewReader(reader), folder) })
	if err = errors.Join(err, reader.Close()); err != nil {
		return fmt.Errorf("write root file system in %s: %w", h.Name, err)
	}
	return provide(h)
}

// unpack writes the folders, links and files of an archive that this program made below a folder.
func unpack(archive *tar.Reader, folder string) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path, mode := filepath.Join(folder, header.Name), header.FileInfo().Mode()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			if err = os.MkdirAll(path, 0o755); err == nil {
				err = os.Chmod(path, mode)
			}
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, path)
		default:
			err = unpackFile(archive, path, mode)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(from io.Reader, path string, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
