package main

import (
	"os/exec"
	"regexp"
	"time"
)

// tool is a program of somebody else's.
type tool struct {
	lead    time.Duration // from its start to its traffic, where that is long
	command string
	get     string   // how to install it
	version []string // the arguments with which it tells its version
}

// missing tells whether the tool is not installed.
func (t tool) missing() bool {
	_, err := exec.LookPath(t.command)
	return err != nil
}

var versionNumber = regexp.MustCompile(`\d+\.\d[\w.+~-]*`)

// installed is the tool's version as it says it itself, or as its package
// does. Some tools end with an error when they are asked.
func (t tool) installed() string {
	out, err := exec.Command(t.command, t.version...).CombinedOutput()
	if len(t.version) == 0 {
		out, err = exec.Command("dpkg-query", "-W", "-f", "${Version}", t.command).Output()
	}
	if number := versionNumber.Find(out); number != nil {
		return string(number)
	}
	if err != nil {
		return "unknown version: " + err.Error()
	}
	return "unknown version"
}
