package main

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	const (
		pass = `{"Action":"output","Package":"p","Test":"TestA","Output":"noise of A\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
`
		okay = `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	)
	for _, c := range []struct {
		name, in string
		out      string // what is printed
		err      string // part of the error; "": none
	}{
		{"passed", pass + okay, "ok  \tp\t0.1s\n", ""},
		{"passed but for a part", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: NOT TESTED: gre: no module\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
` + pass + okay, "NOT TESTED: gre: no module\nok  \tp\t0.1s\n", ""},
		{"passed at the second try", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: SECOND TRY: a window was late\n"}
` + pass + okay, "SECOND TRY: p TestA: a window was late\nok  \tp\t0.1s\nsecond tries: 1\n", ""},
		{"failed", pass + `{"Action":"output","Package":"p","Test":"TestB","Output":"why B failed\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`, "why B failed\nFAIL\tp\t0.1s\n", "failed: p TestB, p"},
		{"went away", pass + `{"Action":"output","Package":"p","Test":"TestB","Output":"panic: test timed out\n"}
`, "panic: test timed out\n", "failed: p TestB (did not end), p (did not end)"},
		{"hung", pass + `{"Action":"output","Package":"p","Test":"TestB","Output":"goroutine 1 waits\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`, "FAIL\tp\t0.1s\ngoroutine 1 waits\n", "failed: p TestB (did not end), p"},
		{"skipped", pass + `{"Action":"output","Package":"p","Test":"TestB","Output":"no root\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
` + okay, "no root\nok  \tp\t0.1s\n", "skipped, so not tested: p TestB"},
		{"a package without tests", pass + okay + `{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q"}
`, "ok  \tp\t0.1s\n?   \tq\t[no test files]\n", ""},
		{"does not build", pass + okay + `{"ImportPath":"q","Action":"build-output","Output":"q.go:1: syntax error\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q"}
`, "ok  \tp\t0.1s\nq.go:1: syntax error\nFAIL\tq [build failed]\n", "failed: "},
		{"not JSON", "go: cannot find main module\n", "go: cannot find main module\n", "no test passed"},
		{"nothing", "", "", "no test passed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := judge(strings.NewReader(c.in), &out)
			if out.String() != c.out {
				t.Errorf("printed %q, want %q", out.String(), c.out)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}
