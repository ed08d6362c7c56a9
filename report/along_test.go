package report

import (
	"bytes"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// overBoth is a run over both versions of IP.
func overBoth() *result.Result {
	res := onKernels()
	c := &res.Comparisons[0]
	res.Kernels = nil
	c.Along, c.Of, c.Than, c.Differ, c.Single = "ip", "IPv6", "IPv4", nil, nil
	for n := range c.Cells {
		for m := range c.Cells[n].Metrics {
			c.Cells[n].Metrics[m].Again = nil
		}
	}
	for n := range res.Cells {
		delete(res.Cells[n].Params, "kernel")
		if n >= len(res.Cells)/2 {
			res.Cells[n].Params["ip"] = 6.0
		}
		res.Cells[n].Group = ""
	}
	res.Environment.Kernel = "6.12.95+deb12-amd64"
	res.SetGroups()
	return res
}

// TestVersionsAreShown in every form, within 80 columns too.
func TestVersionsAreShown(t *testing.T) {
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"versions.en.txt": func(b *bytes.Buffer) error {
			_, err := Answer(b, overBoth(), Options{Width: 80})
			return err
		},
		"versions.zh.txt": func(b *bytes.Buffer) error {
			_, err := Answer(b, overBoth(), Options{Width: 80, Lang: Chinese})
			return err
		},
		"versions.md": func(b *bytes.Buffer) error {
			_, err := writeMarkdown(b, []*result.Result{overBoth()}, English)
			return err
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		isGolden(t, name, got.String())
	}
	v := viewsOf([]*result.Result{overBoth()})[0]
	if len(v.Compared) != 1 {
		t.Fatal("the page does not get the versions")
	}
	labtest.Equal(t, "rows of the page", len(v.Compared[0].Rows), 4)
}
