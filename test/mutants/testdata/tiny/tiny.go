// Package tiny has mutants of each fate.
package tiny

// Sum has one that a test kills.
func Sum(a, b int) int {
	return a + b // of numbers
}

// Room has one that does the same, in more memory.
func Room(n int) []int {
	return make([]int, 0, n*2)
}

// Join has one that does not compile.
func Join(a, b string) string {
	return a + b // of texts
}

// Count has one that a test kills, and one that never ends.
func Count(n int) (count int) {
	for i := 0; i != n; i++ {
		count = i
	}
	return count
}
