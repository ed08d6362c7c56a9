// barStyle is how a bar of a chart is filled: an inconclusive one is an outline of dashes, which
// nobody takes for a certain one, and that of a stand-in is pale.
export const barStyle = (colour, { sure = true, opacity = 1 } = {}) =>
  sure ? { fill: colour, opacity } : { fill: "none", stroke: colour, lineWidth: 1.5, lineDash: [4, 3], opacity: Math.max(0.5, opacity) };

// dashedItem is the same of a bar that the charts' library draws by itself, with a trace of its
// colour, which its mark in a tooltip has too.
export const dashedItem = (colour) => ({ color: `${colour}1f`, borderColor: colour, borderWidth: 1.5, borderType: [4, 3] });
