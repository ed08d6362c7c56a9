package site

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// holdWait is how long a staged program waits for the outpost that is to begin from it:
	// the way there may ask for a password again.
	holdWait = time.Minute
	holdStep = 20 * time.Millisecond
)

// otherBytes is the error of a program that is not the one that was sent.
const otherBytes = "other bytes came than were sent: the stream loses, repeats or changes some"

// held begins the line that Hold and KeepProgram print once the program is whole; the second names the file.
const held = "tare: held"

// Hold is run from a staged program, to make sure that it is the one that was sent. Until an
// outpost has begun from it, and removed it, it waits, and else removes it: nothing is left
// where the other side went away in between.
func Hold(sum string, out io.Writer) error {
	staged, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find what was staged: %w", err)
	}
	err = verify(sum)
	if err == nil {
		_, err = fmt.Fprintln(out, held)
	}
	if err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	for begun := time.Now(); time.Since(begun) < holdWait; time.Sleep(holdStep) {
		var is unix.Stat_t
		if err := unix.Stat("/proc/self/exe", &is); err != nil {
			return fmt.Errorf("look at what was staged: %w", err)
		}
		if is.Nlink == 0 {
			return nil
		}
	}
	return errors.Join(errors.New("no outpost began"), os.Remove(staged))
}

// KeepProgram is run from a program that was sent, or was kept before, to make sure that it is the
// one that is meant. It gives its file the name of its digest, and removes what else was kept
// in the folder: programs of other versions.
func KeepProgram(sum string, out io.Writer) error {
	file, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find what was sent: %w", err)
	}
	if err := verify(sum); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	folder, kept := filepath.Dir(file), filepath.Join(filepath.Dir(file), sum)
	if err := os.Rename(file, kept); err != nil {
		return errors.Join(fmt.Errorf("keep what was sent: %w", err), os.Remove(file))
	}
	others, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("look for other versions: %w", err)
	}
	for _, other := range others {
		if len(other.Name()) != len(sum) || other.Name() == sum {
			continue // one that is being sent
		}
		if err := os.Remove(filepath.Join(folder, other.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove another version: %w", err)
		}
	}
	_, err = fmt.Fprintln(out, held, kept)
	return err
}

// verify reports that the running program is the one that was sent.
func verify(sum string) error {
	got, err := digest("/proc/self/exe")
	if err == nil && got != sum {
		err = errors.New(otherBytes)
	}
	return err
}
