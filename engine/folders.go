package engine

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// programFolders hold a machine's programs and the libraries that they load
// (Filesystem Hierarchy Standard 3.0), and the targets of Debian's links between
// programs. On most machines /bin, /sbin and the /lib ones are links into /usr.
func programFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc/alternatives"}
}

// self is this binary in the hosts that have an image.
const self = lab.Scratch + "/tare"

// provide gives a host this binary, for its containers to mount. It takes no memory, and stays
// there if its file is removed, as `go run` does at its end.
func provide(h *lab.Host) error {
	path, err := os.Readlink(lab.Self) // the link itself leads to another mount namespace
	if err == nil {
		err = isSelf(path)
	}
	if err == nil {
		err = h.Inside(func() error {
			if err := os.WriteFile(self, nil, 0o755); err != nil {
				return err
			}
			return unix.Mount(path, self, "", unix.MS_BIND, "")
		})
	}
	if err != nil {
		return fmt.Errorf("provide %s with this binary: %w", h.Name, err)
	}
	return nil
}

// isSelf fails if a file is not the one that this process runs.
func isSelf(path string) error {
	running, err := os.Stat(lab.Self)
	if err != nil {
		return err
	}
	if file, err := os.Stat(path); err != nil || !os.SameFile(running, file) {
		return fmt.Errorf("%s was removed or replaced while it ran: start it again", path)
	}
	return nil
}

// Mount is a file or a folder of a host, and where a container has it.
type Mount struct{ From, At string }

// Mounts are what the containers of a real engine mount read-only: this binary as
// lab.SelfInImage, and the machine's own folders of programs, so that servers and clients run
// in them as on a host.
func Mounts() ([]Mount, error) {
	mounts := []Mount{{self, lab.SelfInImage}}
	for _, path := range programFolders() {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find the machine's programs: %w", err)
		}
		if info.IsDir() {
			mounts = append(mounts, Mount{path, path})
		}
	}
	return mounts, nil
}

// programFiles are the files that programs look up: the users that they run as,
// and the paths of their libraries.
func programFiles() []string { return []string{"/etc/passwd", "/etc/group", "/etc/ld.so.cache"} }

// addSurroundings adds what programs expect outside their folders: the links to
// those folders, the files that they look up, and folders to write in, which are
// in memory as all files of an engine are.
func addSurroundings(archive *tar.Writer) error {
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
		if err := addFile(archive, path, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // other C libraries keep no list
			return err
		}
	}
	return nil
}

// resolved follows the links of a path's folder, so that no file is added over a
// link.
func resolved(path string) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}
