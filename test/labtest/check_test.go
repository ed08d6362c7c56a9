package labtest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// kept keeps what a check reports.
type kept []string

func (k *kept) Helper()                           {}
func (k *kept) Errorf(format string, args ...any) { *k = append(*k, fmt.Sprintf(format, args...)) }

func TestChecksNameWhatIsWrong(t *testing.T) {
	five := 5
	var got kept
	Equal(&got, "lost", 3, 2)
	Equal(&got, "CC", "", "reno")
	Equal(&got, "low", &five, nil)
	NotEqual(&got, "toll", (*int)(nil), nil)
	AtLeast(&got, "window", time.Second, time.Minute)
	AtMost(&got, "loss", 0.2, 0.1)
	MoreThan(&got, "rate", 0.0, 0)
	LessThan(&got, "order", 4, 4)
	Between(&got, "visits", 2, 3, 4)
	Between(&got, "visits", 5, 3, 4)
	Near(&got, "toll", 0.3, 0.2, 0.05)
	Contains(&got, "rules", "drop", "accept")
	want := []string{
		"lost is 3, want 2",
		`CC is "", want "reno"`,
		"low is 5, want <nil>",
		"toll is <nil>, want any other value",
		"window is 1s, want at least 1m0s",
		"loss is 0.2, want at most 0.1",
		"rate is 0, want more than 0",
		"order is 4, want less than 4",
		"visits is 2, want 3 to 4",
		"visits is 5, want 3 to 4",
		"toll is 0.3, want 0.2 within 0.05",
		"rules has no \"accept\":\ndrop",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}

func TestChecksPassWhatIsRight(t *testing.T) {
	five := 5
	var got kept
	Equal(&got, "lost", 2, 2)
	Equal(&got, "low", (*int)(nil), nil)
	NotEqual(&got, "toll", &five, nil)
	AtLeast(&got, "window", 2, 2)
	AtMost(&got, "loss", 0.1, 0.1)
	MoreThan(&got, "rate", 0.1, 0)
	LessThan(&got, "order", 3, 4)
	Between(&got, "visits", 3, 3, 4)
	Between(&got, "visits", 4, 3, 4)
	Near(&got, "toll", 0.25, 0.5, 0.25)
	Contains(&got, "rules", "accept all", "accept")
	if len(got) > 0 {
		t.Errorf("got %q, want nothing", got)
	}
}

// No bound holds for what is not a number.
func TestNaNPassesNoBound(t *testing.T) {
	nan := math.NaN()
	var got kept
	Equal(&got, "nan", nan, nan)
	AtLeast(&got, "nan", nan, 0)
	AtMost(&got, "nan", nan, 0)
	MoreThan(&got, "nan", nan, 0)
	LessThan(&got, "nan", nan, 0)
	Between(&got, "nan", nan, 0, 1)
	Near(&got, "nan", nan, 0, 1)
	if len(got) != 7 {
		t.Errorf("%d of 7 checks fail: %q", len(got), got)
	}
}
