// Where gemini, its directory, its environment and its system prompt are.

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// locate finds gemini on PATH.
func locate() (string, error) {
	denied := ""
	for _, directory := range filepath.SplitList(os.Getenv("PATH")) {
		path, err := filepath.Abs(filepath.Join(directory, "gemini"))
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		if syscall.Access(path, 1) == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
		if denied == "" {
			denied = path
		}
	}
	if denied != "" {
		return "", fmt.Errorf("gemini at '%s' cannot be executed: permission denied. Make the file executable.", denied)
	}
	return "", errors.New("gemini was not found on PATH. Install it with `npm install -g @google/gemini-cli`.")
}

// enter checks a working directory.
func enter(cwd string) error {
	info, err := os.Stat(cwd)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		return fmt.Errorf("`cwd` '%s' does not exist. Create the directory, or name one that exists.", cwd)
	case !info.IsDir():
		return fmt.Errorf("`cwd` '%s' is not a directory. Name a directory.", cwd)
	case syscall.Access(cwd, 1) == nil:
		return nil
	}
	return fmt.Errorf("`cwd` '%s' may not be entered: permission denied. Name a directory this user may enter.", cwd)
}

// environment is what gemini inherits, and the file of the system prompt.
func environment(systemFile string) []string {
	var result []string
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "GEMINI_MCP_") || systemFile != "" && strings.HasPrefix(entry, "GEMINI_SYSTEM_MD=") {
			continue
		}
		result = append(result, entry)
	}
	if systemFile != "" {
		result = append(result, "GEMINI_SYSTEM_MD="+systemFile)
	}
	return result
}

// writeSystemPrompt puts a text into a file of a new private directory.
func writeSystemPrompt(text string) (directory, file string, err error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	root, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", "", err
	}
	for attempt := 0; ; attempt++ {
		random := make([]byte, 6)
		if _, err := rand.Read(random); err != nil {
			return "", "", err
		}
		for i := range random {
			random[i] = letters[int(random[i])%len(letters)]
		}
		directory = filepath.Join(root, "gemini-mcp-"+string(random))
		err = os.Mkdir(directory, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || attempt == 100 {
			return "", "", err
		}
	}
	file = filepath.Join(directory, "SYSTEM.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		os.RemoveAll(directory)
		return "", "", err
	}
	return directory, file, nil
}
