package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"tare/result"
)

// version of the tool; it moves with CHANGELOG.md.
const version = "0.1.0"

func versionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, and what it runs on",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			var machine unix.Utsname
			if err := unix.Uname(&machine); err != nil {
				return fmt.Errorf("read the kernel's version: %w", err)
			}
			_, err := fmt.Fprintf(s.out, "tare %s\ncommit %s\nbuilt by %s for %s/%s\nkernel %s\n",
				version, tool().Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, unix.ByteSliceToString(machine.Release[:]))
			return err
		},
	}
}

// tool names this binary's version and commit.
func tool() result.Tool {
	t := result.Tool{Version: version, Commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			t.Commit = setting.Value
		}
	}
	return t
}
