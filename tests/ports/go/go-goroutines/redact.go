// What may not be repeated, taken out of a text.

package main

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`AIza[0-9A-Za-z_-]{20,}`), "[masked]"},
	{regexp.MustCompile(`ya29\.[0-9A-Za-z_.-]{10,}`), "[masked]"},
	{regexp.MustCompile(`\bsk-[0-9A-Za-z_-]{16,}`), "[masked]"},
	{regexp.MustCompile(`\bgh[pousr]_[0-9A-Za-z]{20,}`), "[masked]"},
	{regexp.MustCompile(`\bgithub_pat_[0-9A-Za-z_]{20,}`), "[masked]"},
	{regexp.MustCompile(`\bxox[abprs]-[0-9A-Za-z-]{10,}`), "[masked]"},
	{regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`), "[masked]"},
	{regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{8,500}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*`), "[masked]"},
	{regexp.MustCompile(`([Bb]earer )[0-9A-Za-z._~+/=-]{8,}`), "${1}[masked]"},
	{regexp.MustCompile(`(?i)(key=)[0-9a-z_%.-]{8,}`), "${1}[masked]"},
	{regexp.MustCompile(`(://)[^\s/?#@]{6,256}@`), "${1}[masked]@"},
}

var (
	keyBegins   = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	keyEnds     = regexp.MustCompile(`^-----END [A-Z ]*PRIVATE KEY-----`)
	keyBoundary = regexp.MustCompile(`-----(?:BEGIN|END) `)
	secretName  = regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASS|CREDENTIAL|_PWD$|(?:^|_)PAT$`)
)

// withhold takes copies of private texts out, as they are or escaped by JSON.
func withhold(text string, private []string) string {
	var copies []string
	for _, value := range private {
		if len(strings.TrimSpace(value)) < privateLength {
			continue
		}
		for _, form := range []string{value, strings.TrimSpace(value)} {
			escaped := jsonText(form)
			escaped = escaped[1 : len(escaped)-1]
			copies = append(copies, form, escaped, asciiOnly(escaped))
		}
	}
	sort.SliceStable(copies, func(i, j int) bool { return len(copies[i]) > len(copies[j]) })
	for _, form := range copies {
		text = strings.ReplaceAll(text, form, "[withheld]")
	}
	return text
}

func asciiOnly(text string) string {
	var result strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			result.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&result, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&result, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
	}
	return result.String()
}

// mask replaces what looks like a key, and the values of secret variables.
func mask(text string) string {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= secretLength && secretName.MatchString(name) {
			text = strings.ReplaceAll(text, value, "[masked]")
		}
	}
	for _, entry := range masks {
		text = entry.pattern.ReplaceAllString(text, entry.with)
	}
	var result strings.Builder
	for {
		at := keyBegins.FindStringIndex(text)
		if at == nil {
			result.WriteString(text)
			return result.String()
		}
		result.WriteString(text[:at[0]] + "[masked]")
		text = text[at[1]:]
		boundary := keyBoundary.FindStringIndex(text)
		if boundary == nil {
			return result.String()
		}
		text = text[boundary[0]:]
		if end := keyEnds.FindString(text); end != "" {
			text = text[len(end):]
		}
	}
}

// tail returns the last bytes of a text, without half a character.
func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
