// Sleeps 0.1 s in each of a hundred goroutines and prints how long that took.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	began := time.Now()
	var all sync.WaitGroup
	for i := 0; i < 100; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			time.Sleep(100 * time.Millisecond)
		}()
	}
	all.Wait()
	fmt.Println(time.Since(began).Seconds())
}
