package labtest

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// reporter is what a check needs of a test: testing.TB and *rapid.T are such.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal fails a test whose value got is not want. As every check, it names the
// value and lets the test go on, so that one run shows all that is wrong.
func Equal[T comparable](t reporter, name string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %s, want %s", name, shown(got), shown(want))
	}
}

// NotEqual fails a test whose value got is the one that it must not be.
func NotEqual[T comparable](t reporter, name string, got, unwanted T) {
	t.Helper()
	if got == unwanted {
		t.Errorf("%s is %s, want any other value", name, shown(got))
	}
}

// AtLeast fails a test whose value got is below the least, or not a number.
func AtLeast[T cmp.Ordered](t reporter, name string, got, least T) {
	t.Helper()
	if !(got >= least) {
		t.Errorf("%s is %s, want at least %s", name, shown(got), shown(least))
	}
}

// AtMost fails a test whose value got is above the most, or not a number.
func AtMost[T cmp.Ordered](t reporter, name string, got, most T) {
	t.Helper()
	if !(got <= most) {
		t.Errorf("%s is %s, want at most %s", name, shown(got), shown(most))
	}
}

// MoreThan fails a test whose value got does not exceed the bound.
func MoreThan[T cmp.Ordered](t reporter, name string, got, bound T) {
	t.Helper()
	if !(got > bound) {
		t.Errorf("%s is %s, want more than %s", name, shown(got), shown(bound))
	}
}

// LessThan fails a test whose value got is not below the bound.
func LessThan[T cmp.Ordered](t reporter, name string, got, bound T) {
	t.Helper()
	if !(got < bound) {
		t.Errorf("%s is %s, want less than %s", name, shown(got), shown(bound))
	}
}

// Between fails a test whose value got is below the least or above the most.
func Between[T cmp.Ordered](t reporter, name string, got, least, most T) {
	t.Helper()
	if !(got >= least && got <= most) {
		t.Errorf("%s is %s, want %s to %s", name, shown(got), shown(least), shown(most))
	}
}

// Near fails a test whose value got differs from want by more than the tolerance.
func Near(t reporter, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", name, got, want, tolerance)
	}
}

// Contains fails a test whose text does not have a part.
func Contains(t reporter, name, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s has no %q:\n%s", name, part, text)
	}
}

// shown writes texts in quotes, and what a pointer points to.
func shown(value any) string {
	v := reflect.ValueOf(value)
	switch {
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return fmt.Sprintf("%+v", v.Elem())
	}
	return fmt.Sprintf("%+v", value)
}
