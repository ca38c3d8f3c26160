// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"math"
	"time"
)

// Buckets of a histogram: 16 of equal width up to 32 ns, and 16 for each power of two
// from there to 68 seconds. The numbers are those of bpf/stages.bpf.c.
const (
	subBits = 4
	sub     = 1 << subBits
	lowBits = 5
	buckets = 32 * sub
)

// A Histogram tells how often something took how long. A bucket is 6 % wide, but for
// times below 32 ns, where it is 2 ns; the last one has all that is longer.
type Histogram struct {
	Count uint64
	Sum   time.Duration
	Max   time.Duration
	n     [buckets]uint64
}

// lowest is the smallest value of a bucket, in ns.
func lowest(bucket int) float64 {
	if bucket < sub {
		return math.Ldexp(float64(bucket), lowBits-subBits)
	}
	return math.Ldexp(1+float64(bucket%sub)/sub, lowBits-1+bucket/sub)
}

// add adds another histogram.
func (h *Histogram) add(o *Histogram) {
	h.Count += o.Count
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
	for i, n := range o.n {
		h.n[i] += n
	}
}

// Mean is the average, exactly.
func (h *Histogram) Mean() time.Duration {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.Count)
}

// Quantile is the time that a part q of all, from 0 to 1, did not exceed. It is
// right within a bucket.
func (h *Histogram) Quantile(q float64) time.Duration {
	var total, seen uint64
	for _, n := range h.n {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(total)))
	for i, n := range h.n {
		if n == 0 {
			continue
		}
		if seen += n; seen >= rank {
			lo, hi := lowest(i), lowest(i+1)
			// Where in the bucket, were they spread evenly.
			at := lo + (hi-lo)*(1-float64(seen-rank)/float64(n))
			return min(time.Duration(at), h.Max)
		}
	}
	return h.Max
}

// An Octave is a power of two of a histogram: how many took from From to twice
// that, or from 0 to 32 ns.
type Octave struct {
	From  time.Duration
	Count uint64
}

// Octaves are the powers of two from the first to the last that is not empty.
func (h *Histogram) Octaves() []Octave {
	var all []Octave
	for i := 0; i < buckets; i += sub {
		o := Octave{From: time.Duration(lowest(i))}
		for _, n := range h.n[i : i+sub] {
			o.Count += n
		}
		all = append(all, o)
	}
	for len(all) > 0 && all[0].Count == 0 {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].Count == 0 {
		all = all[:len(all)-1]
	}
	return all
}
