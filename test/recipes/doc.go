// Package recipes holds the recipes of CONTRIBUTING.md to what they promise: it
// adds a toy of each kind to a copy of the tree, by the files that the recipe
// names and no other, and looks for it where its users would.
package recipes
