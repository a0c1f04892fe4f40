// Asks compose-go, the implementation inside Docker Compose, what files and their parts mean.
//
// Reads lines of JSON, {"kind": "template" | "variables" | "file", "text": ...}, and answers each with a line: the
// value, or {"error": "why"}. A file is named by its path.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/template"
)

var values = map[string]string{"SET": "value", "EMPTY": "", "OTHER": "other"}

func lookup(name string) (string, bool) {
	value, found := values[name]
	return value, found
}

func answer(kind, text string) (any, error) {
	switch kind {
	case "template":
		return template.Substitute(text, lookup)
	case "variables":
		return dotenv.ParseWithLookup(strings.NewReader(text), lookup)
	}
	options, err := cli.NewProjectOptions([]string{text}, cli.WithWorkingDirectory(filepath.Dir(text)),
		cli.WithEnvFiles(), cli.WithDotEnv, cli.WithName("reference"))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

func main() {
	questions := bufio.NewScanner(os.Stdin)
	questions.Buffer(nil, 1<<20)
	for questions.Scan() {
		var question struct{ Kind, Text string }
		err := json.Unmarshal(questions.Bytes(), &question)
		var found any
		if err == nil {
			found, err = answer(question.Kind, question.Text)
		}
		if err != nil {
			found = map[string]string{"error": err.Error()}
		}
		line, err := json.Marshal(found)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}
