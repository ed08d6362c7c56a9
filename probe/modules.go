package probe

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tare/result"
)

// MachineFacts are what may change on a machine over hours, and no probe of a namespace reads: the
// kernel's memory (proc_meminfo(5)), in bytes, and the modules that are loaded, with their versions
// or the checksum of their source. What can't be read is left out and named.
func MachineFacts(root string) (states []result.State, unread []result.Unread) {
	for _, one := range []struct {
		source string
		read   func(string) (map[string]any, error)
	}{{"/proc/meminfo", meminfo}, {"/proc/modules", modules}} {
		values, err := one.read(root)
		if errors.Is(err, fs.ErrNotExist) && one.source == "/proc/modules" {
			continue // a kernel without modules
		}
		if err != nil {
			unread = append(unread, result.Unread{Source: one.source, Reason: reason(err)})
			continue
		}
		states = append(states, result.State{Source: one.source, Values: values})
	}
	return states, unread
}

// modules are those that are loaded. A module that says no version has the checksum of its source.
func modules(root string) (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc/modules"))
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for line := range bytes.Lines(text) {
		name, _, _ := strings.Cut(string(line), " ")
		values[name] = "loaded"
		for _, file := range []string{"srcversion", "version"} {
			if version := moduleFile(root, name, file); version != "" {
				values[name] = version
			}
		}
	}
	return values, nil
}

func moduleFile(root, module, file string) string {
	return strings.TrimSpace(string(contents(root, filepath.Join("sys/module", module, file))))
}
