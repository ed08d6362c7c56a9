package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // the script and the style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"tare/result"
)

// builtScript and builtStyle are the page's, as make web builds them.
var (
	//go:embed web/dist/report.js
	builtScript string
	//go:embed web/dist/report.css
	builtStyle string
)

// shell is the page without its data, whose places are named in braces. The script draws
// everything; without scripts the page shows where the numbers are.
const shell = `<!doctype html>
<html lang="en"{LANG}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'">
<title>{TITLE}</title>
<style>{STYLE}</style>
</head>
<body>
<main id="report"></main>
<noscript><p>{TITLE}</p><p>This page draws its numbers with JavaScript, which is switched off here. The same numbers: tare report RESULT.json --format markdown</p></noscript>
<script type="application/json" id="view">{VIEW}</script>
<script type="application/json" id="result">"{RESULT}"</script>
<script>{SCRIPT}</script>
</body>
</html>
`

// writeHTML writes a self-contained page: it loads nothing, and holds the results
// that it shows. It opens in the given language, else in the browser's.
func writeHTML(w io.Writer, results []*result.Result, lang string) (left []string, err error) {
	packed, err := pack(results) // which removes what JSON cannot represent
	if err != nil {
		return nil, err
	}
	views := viewsOf(results)
	shown, err := json.Marshal(views) // escapes <, > and &, so that no name ends the script
	if err != nil {
		return nil, fmt.Errorf("encode the page's numbers: %w", err)
	}
	title, opens := "tare", ""
	if len(views) > 0 {
		title = views[0].Titles[cmp.Or(lang, English)]
	}
	if lang != "" {
		opens = ` data-lang="` + html.EscapeString(lang) + `"`
	}
	page := strings.NewReplacer("{LANG}", opens, "{TITLE}", html.EscapeString(title), "{STYLE}", builtStyle,
		"{VIEW}", string(shown), "{RESULT}", packed, "{SCRIPT}", builtScript)
	if _, err := page.WriteString(w, shell); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return nil, nil
}

// pack is the results as they were given, packed by gzip, in base64: readings of
// counters make them large.
func pack(results []*result.Result) (string, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", fmt.Errorf("pack results: %w", err)
	}
	for n, res := range results {
		if n > 0 {
			if _, err := io.WriteString(z, "\n"); err != nil {
				return "", fmt.Errorf("pack results: %w", err)
			}
		}
		if err := res.Write(z); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("pack results: %w", err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
