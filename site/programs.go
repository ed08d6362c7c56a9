package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tare/engine"
	"tare/lab"
)

// program is tare for one architecture.
type program struct {
	file string
	arch string // as Go calls it
	sum  string // SHA-256, in hexadecimal digits
}

// machines are what uname(1) calls the machines of the architectures that tare is built for.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// programs are this one, and those for other machines that are beside it, as make dist makes
// them.
func programs() ([]program, error) {
	sum, err := digest("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	all := []program{{"/proc/self/exe", runtime.GOARCH, sum}}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	for arch := range machines {
		file := filepath.Join(filepath.Dir(self), "tare-linux-"+arch)
		sum, err := digest(file)
		if errors.Is(err, fs.ErrNotExist) || arch == runtime.GOARCH {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, program{file, arch, sum})
	}
	return all, nil
}

// Images are container images that hold this program, each for one of the architectures for which
// there is a tare.
func Images(name string) (images []engine.Image, err error) {
	all, err := programs()
	for _, p := range all {
		images = append(images, engine.Image{Name: name, Program: p.file, Arch: p.arch, Entrypoint: []string{lab.SelfInImage}})
	}
	return images, err
}

// fits is the program for a machine, as uname(1), Docker or Podman names it.
func fits(all []program, machine, at string) (program, error) {
	var have []string
	for _, p := range all {
		if machine == p.arch || machine == machines[p.arch] {
			return p, nil
		}
		have = append(have, machines[p.arch])
	}
	return program{}, fmt.Errorf("tare at %s: its machine is %s, and there is a tare for %s: make dist builds those for others; put them beside this one, or copy one there and name it with --far-path", at, machine, strings.Join(have, ", "))
}

// digest is the SHA-256 of a program, in hexadecimal digits.
func digest(program string) (string, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
