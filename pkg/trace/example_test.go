// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace_test

import (
	"fmt"
	"log"
	"time"

	"github.com/softhca/softhca/pkg/trace"
)

// How long messages take, from the fetch of the work request to the
// completion.
func ExampleOpenLatency() {
	l, err := trace.OpenLatency(trace.Filter{Device: "shca0"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	time.Sleep(10 * time.Second)

	list, missed, err := l.Read()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range list {
		h := s.Stages[trace.StageTotal]
		fmt.Println(s.QPN, s.Opcode, h.Count, h.Mean(), h.Quantile(0.99))
	}
	fmt.Println("not measured:", missed.Collisions+missed.NoRoom)
}

// What goes wrong on any device, in plain words.
func ExampleExplain() {
	s, err := trace.OpenErrors(trace.Filter{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for {
		e, err := s.Next()
		if err != nil {
			log.Fatal(err)
		}
		if text := trace.Explain(&e); text != "" {
			fmt.Println(e.Device, e.QPN, text)
		}
	}
}
