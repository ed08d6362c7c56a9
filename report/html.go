package report

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the script and the style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"tare/result"
)

// builtScript and builtStyle are the page's, as make web builds them.
var (
	//go:embed web/dist/report.js
	builtScript string
	//go:embed web/dist/report.css
	builtStyle string
)

// shell is the page without its data. The script draws everything; without scripts
// the page shows where the numbers are.
const shell = `<!doctype html>
<html lang="en"{{with .Lang}} data-lang="{{.}}"{{end}}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main id="report"></main>
<noscript><p>{{.Title}}</p><p>This page draws its numbers with JavaScript, which is switched off here. The same numbers: tare report RESULT.json --format markdown</p></noscript>
<script type="application/json" id="view">{{.View}}</script>
<script type="application/json" id="result">{{.Result}}</script>
<script>{{.Script}}</script>
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
	page := map[string]any{
		"Title": "tare", "Lang": lang, "Style": template.CSS(builtStyle), "Script": template.JS(builtScript),
		"View": template.JS(shown), "Result": template.JS(`"` + packed + `"`),
	}
	if len(views) > 0 {
		page["Title"] = views[0].Titles[English]
	}
	t, err := template.New("page").Parse(shell)
	if err != nil {
		return nil, fmt.Errorf("read the page's shell: %w", err)
	}
	if err := t.Execute(w, page); err != nil {
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
