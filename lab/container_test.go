package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func testComeAndGo(t *testing.T) {
	l := open(t)
	h := setUp(t, l, pairOf("x")).Hosts[0]
	first, second, third := create(t, h), create(t, h), create(t, h)
	var undone []string
	step := func(name string) func() error {
		return func() error { undone = append(undone, name); return nil }
	}
	second.Detach.Push(step("first"))
	second.Detach.Push(step("last"))
	first.Detach.Push(step("another's"))
	if err := h.RemoveContainer(second); err != nil {
		t.Fatal(err)
	}
	if want := []string{"last", "first"}; !slices.Equal(undone, want) {
		t.Errorf("removed: %q, want %q", undone, want)
	}
	if _, err := l.Find("x.h1/c2"); err == nil {
		t.Error("a container that went is found")
	}
	again := create(t, h)
	if again.Number != 2 || !slices.Equal(h.Containers(), []*Container{first, again, third}) {
		t.Errorf("the next is c%d", again.Number)
	}

	// What could not be removed does not hinder the next container.
	third.Detach.Push(func() error { return errors.New("it sticks") })
	if err := h.RemoveContainer(third); err == nil || !strings.Contains(err.Error(), "remove container x.h1/c3: it sticks") {
		t.Errorf("removing: %v", err)
	}
	if next := create(t, h); next.Number != 4 {
		t.Errorf("the next is c%d, want c4", next.Number)
	}

	place := h.Place()
	if err := h.RemoveContainer(place); err != nil || place.Name != h.Name || place.Addr != h.Addr {
		t.Errorf("the host's own place is %s at %v, %v", place.Name, place.Addr, err)
	}
	if got := linkOf(t, h.Namespace, Device); !got.Up {
		t.Error("the host went with its place")
	}
}
