// Prints the keys of a history of registers that are not linearizable, as porcupine finds, in ascending order.
//
// The history is in the form of `crosswind-load history`: a line of JSON for each event.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"

	"github.com/anishathalye/porcupine"
)

type event struct {
	Process int               `json:"process"`
	Type    string            `json:"type"`
	F       string            `json:"f"`
	Value   []json.RawMessage `json:"value"`
}

// What is asked, or answered; `ok` is false where nobody knows the answer. "null" is a register never written.
type input struct {
	f        string
	from, to string
}
type output struct {
	ok   bool
	read string
}

var register = porcupine.NondeterministicModel{
	Init: func() []interface{} { return []interface{}{"null"} },
	Step: func(state, in, out interface{}) []interface{} {
		held, asked, answer := state.(string), in.(input), out.(output)
		same := []interface{}{held}
		switch asked.f {
		case "read":
			if answer.ok && answer.read != held {
				return nil
			}
			return same
		case "write":
			if !answer.ok {
				return []interface{}{held, asked.to}
			}
			return []interface{}{asked.to}
		default:
			if held == asked.from {
				if !answer.ok {
					return []interface{}{held, asked.to}
				}
				return []interface{}{asked.to}
			}
			if !answer.ok {
				return same
			}
			return nil
		}
	},
	Equal: func(a, b interface{}) bool { return a == b },
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	model := register.ToModel()
	events := map[int][]porcupine.Event{}
	open := map[int]int{}
	asked := map[int]int{}
	number := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var read event
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			panic(err)
		}
		key, _ := strconv.Atoi(string(read.Value[0]))
		value := string(read.Value[1])
		if read.Type == "invoke" {
			in := input{f: read.F, to: value}
			if read.F == "cas" {
				var both [2]int
				json.Unmarshal(read.Value[1], &both)
				in.from, in.to = strconv.Itoa(both[0]), strconv.Itoa(both[1])
			}
			open[read.Process], asked[read.Process] = number, key
			events[key] = append(events[key], porcupine.Event{ClientId: read.Process, Kind: porcupine.CallEvent, Value: in, Id: number})
			number++
			continue
		}
		id := open[read.Process]
		delete(open, read.Process)
		if read.Type == "ok" {
			out := output{ok: true, read: value}
			events[key] = append(events[key], porcupine.Event{ClientId: read.Process, Kind: porcupine.ReturnEvent, Value: out, Id: id})
		} else {
			open[-1-id], asked[-1-id] = id, key
		}
	}
	// Nobody knows how these ended: porcupine wants their end behind everything.
	for process, id := range open {
		key := asked[process]
		events[key] = append(events[key], porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: output{}, Id: id})
	}
	wrong := []int{}
	for key, all := range events {
		if !porcupine.CheckEvents(model, all) {
			wrong = append(wrong, key)
		}
	}
	sort.Ints(wrong)
	for _, key := range wrong {
		fmt.Println(key)
	}
}
