package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"golang.org/x/sys/unix"
)

// Read reads a result and checks that it is one that this version knows.
func Read(r io.Reader) (*Result, error) {
	res, err := decode(r)
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	if res.Mesh != nil {
		if err := res.Mesh.check(); err != nil {
			return nil, fmt.Errorf("read result: %w: is it whole, and written by tare?", err)
		}
	}
	res.fillArrays()
	return res, nil
}

// decode decodes the only result of a text, of this format or the first.
func decode(r io.Reader) (*Result, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	of := &Result{}
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(of); err != nil {
		return nil, fmt.Errorf("%w: is it whole, and written by tare?", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows after the first: keep one result per file")
	}
	switch of.Schema {
	case Schema:
		return of, nil
	case schemaV1:
		return decodeFirst(text)
	case "":
		return nil, errors.New("it names no schema: it is no result of tare run; tare import reads what other tools write")
	}
	return nil, fmt.Errorf("schema %q, but this tare reads %q and %q: use the tare that wrote it", of.Schema, Schema, schemaV1)
}

// ReadFile reads the result in a file.
func ReadFile(path string) (*Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file that tare run or tare import wrote", err)
	}
	res, err := Read(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return res, nil
}

// Write writes the result as indented JSON. Numbers that are not finite, which JSON
// cannot represent, are left out of it and of the result.
func (res *Result) Write(w io.Writer) error {
	res.fillArrays()
	res.keepFinite()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(res); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// WriteFile writes the result to path, as ReplaceFile does.
func (res *Result) WriteFile(path string) error {
	if err := ReplaceFile(path, res.Write); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// ReplaceFile writes a file. A regular one is replaced in one step, once its text is on
// the disk: a reader never sees half of it, and on a full disk the older file stays.
// Anything else (/dev/stdout, a pipe) is written directly and never renamed over.
func ReplaceFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeDirectly(path, write)
	}
	path = behindLink(path)
	tmp, err := createLocked(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(modeFor(path))
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path) // locked still
	}
	if err != nil {
		return errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
	}
	return errors.Join(tmp.Close(), syncFolder(filepath.Dir(path)))
}

// createLocked makes a file that is locked until it is closed, on file systems that have locks:
// one that nobody locks was left by a writer that was killed. It is made again where somebody
// took it for that before it was locked.
func createLocked(folder, pattern string) (*os.File, error) {
	for {
		file, err := os.CreateTemp(folder, pattern)
		if err != nil || unix.Flock(int(file.Fd()), unix.LOCK_EX) != nil {
			return file, err
		}
		if _, err := os.Stat(file.Name()); !errors.Is(err, fs.ErrNotExist) {
			return file, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

// NewFile makes an empty file that nobody else has: of this name, or of the first that is free
// of NAME-2.json, NAME-3.json and so on. It gives the name.
func NewFile(path string) (string, error) {
	extension := filepath.Ext(path)
	name := path
	for n := 2; ; n++ {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			return name, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, extension), n, extension)
	}
}

// syncFolder makes a new name in a folder last, where its file system can.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return nil // it may be written and not read
	}
	if err := folder.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return errors.Join(err, folder.Close())
	}
	return folder.Close()
}

// behindLink is what a link points to, since a link stays a link and its
// target is replaced. Anything else is itself.
func behindLink(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// modeFor keeps the mode of the file that is replaced.
func modeFor(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func writeDirectly(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// CheckWritable returns an error if WriteFile could not write to path, or if a
// result of about size bytes has no room there. It opens nothing that
// somebody may be reading: a pipe's reader would see its end.
func CheckWritable(path string, size int64) error {
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("write %s: it is a folder: name a file in it", path)
		}
		if err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS); err != nil {
			return fmt.Errorf("write %s: %w: choose another file with --out", path, err)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
	}
	path = behindLink(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w: choose another place with --out", path, errors.Unwrap(err))
	}
	free, err := freeBytes(tmp)
	err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
	if err == nil && free < size {
		err = fmt.Errorf("write %s: %d bytes are free there and the result needs about %d: make room or choose another place with --out", path, free, size)
	}
	return err
}

// fillArrays makes every nil array and map an empty one, but for those that a file leaves out.
func (res *Result) fillArrays() {
	fillFields(reflect.ValueOf(res).Elem())
	res.SetGroups()
}

// Key identifies a cell's parameters: equal keys, equal parameters.
func (p Params) Key() string {
	text, err := json.Marshal(p) // map keys come out sorted
	if err != nil {
		return strings.TrimSpace(err.Error())
	}
	return string(text)
}
