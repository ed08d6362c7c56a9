package result

import "slices"

// First is the first of a list of which something holds; false: of none.
func First[T any](list []T, holds func(T) bool) (first T, found bool) {
	at := slices.IndexFunc(list, holds)
	if at < 0 {
		return first, false
	}
	return list[at], true
}

// Names names each of a list, in its order.
func Names[T any](list []T, name func(T) string) []string {
	var names []string
	for _, one := range list {
		names = append(names, name(one))
	}
	return names
}

// NetworksNamed are the networks of a plan without parameters, by their names.
func NetworksNamed(names ...string) []NetworkPlan {
	plans := make([]NetworkPlan, len(names))
	for n, name := range names {
		plans[n].Name = name
	}
	return plans
}

// AddOnce adds a value to a list that lacks it.
func AddOnce[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
