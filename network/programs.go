package network

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tare/lab"
)

// programFolders hold a machine's programs and the libraries that they load
// (Filesystem Hierarchy Standard 3.0), and where Debian's links between programs
// lead. On most machines all but two of the first are links into /usr.
func programFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc/alternatives"}
}

// programs are the machine's own folders of programs, which a real engine's
// containers have too, read-only: servers and clients run in them as on a host.
func programs() ([]string, error) {
	var folders []string
	for _, path := range programFolders() {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find the machine's programs: %w", err)
		}
		if info.IsDir() {
			folders = append(folders, path)
		}
	}
	return folders, nil
}

// programFiles are what programs look up: the users that they run as, and where
// their libraries are.
func programFiles() []string { return []string{"/etc/passwd", "/etc/group", "/etc/ld.so.cache"} }

// addPlaces adds what programs find beside themselves: the links that lead to
// their folders, the files that they look up, and folders to write in. Those are
// in memory, as all of an engine's is.
func addPlaces(archive *tar.Writer) error {
	for _, path := range programFolders() {
		target, err := os.Readlink(path)
		if err != nil {
			continue // a folder, or none
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: path[1:], Linkname: target, Mode: 0o777}); err != nil {
			return err
		}
	}
	for _, folder := range []tar.Header{{Name: "tmp/", Mode: 0o1777}, {Name: lab.Scratch[1:] + "/", Mode: 0o755}} {
		folder.Typeflag = tar.TypeDir
		if err := archive.WriteHeader(&folder); err != nil {
			return err
		}
	}
	for _, path := range programFiles() {
		if err := addFile(archive, path, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // another C library keeps no list
			return err
		}
	}
	return nil
}

// resolved is a path whose folder's links have been followed: a file there is
// not added over a link.
func resolved(path string) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}
