package site

import (
	"fmt"
	"os"
	"syscall"
)

// ownFolder refuses a folder that another user could have put there, or could write to.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("open ledger of labs: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || stat.Uid != uint32(os.Geteuid()) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("open ledger of labs: %s is not a folder that this user alone may write to: remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}
