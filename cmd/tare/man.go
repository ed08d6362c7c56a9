package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// manCommand writes the manual pages of a command and those below it: what each says with --help.
func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Writes manual pages; make install and make dist use it", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManual(root, args[0])
		},
	}
}

// heading is a line of a help text that is above others.
var heading = regexp.MustCompile(`(?m)^([A-Z][A-Za-z ]+):$`)

// writeManual writes the page of a command into a folder, and those of the commands below it.
func writeManual(c *cobra.Command, into string) error {
	var help bytes.Buffer
	c.InitDefaultHelpFlag()
	c.SetOut(&help)
	if err := c.Help(); err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "~", `\(ti`, "^", `\(ha`, "\n.", "\n\\&.").Replace(help.String())
	text = heading.ReplaceAllString(text, ".SH $1\n.nf")
	page := fmt.Sprintf(".TH %s 1 \"\" \"tare %s\" tare\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s",
		strings.ToUpper(name), version, strings.ReplaceAll(name, "-", `\-`), c.Short, text)
	if err := os.WriteFile(filepath.Join(into, name+".1"), []byte(page), 0o644); err != nil {
		return err
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			if err := writeManual(below, into); err != nil {
				return err
			}
		}
	}
	return nil
}
