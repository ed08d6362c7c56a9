package site

import (
	"errors"
	"fmt"
	"io"
	"os"
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

// held is what Hold prints once the program is whole.
const held = "tare: held"

// Hold is run from a staged program, to make sure that it is the one that was sent. Until an
// outpost has begun from it, and removed it, it waits, and else removes it: nothing is left
// where the other side went away in between.
func Hold(sum string, out io.Writer) error {
	staged, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find what was staged: %w", err)
	}
	if err := verify(sum, out); err != nil {
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

// verify reports that the running program is the one that was sent.
func verify(sum string, out io.Writer) error {
	got, err := digest("/proc/self/exe")
	if err != nil {
		return err
	}
	if got != sum {
		return errors.New(otherBytes)
	}
	_, err = fmt.Fprintln(out, held)
	return err
}
