// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/softhca/softhca/internal/number"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// A qpView is what "qp show" shows.
type qpView struct {
	genl.QP
	Explanation string `json:"explanation"`
}

func newQP(a *app) *cobra.Command {
	list := &cobra.Command{
		Use:               "list [DEV]",
		Short:             "List the queue pairs",
		Long:              "List the queue pairs of the device DEV, or of all devices.",
		Example:           "  ibctl qp list shca0",
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(func(c *genl.Client) error {
				qps, err := c.QPs(genl.QPFilter{Device: strings.Join(args, "")})
				if err != nil {
					return err
				}
				return a.printer().List(qps)
			})
		},
	}

	show := &cobra.Command{
		Use:   "show DEV QPN",
		Short: "Show everything about a queue pair",
		Long: `Show everything about the queue pair QPN of the device DEV.

For one in the error state, the last line explains why it got there.`,
		Example:           "  ibctl qp show shca0 17",
		Args:              exactArgs("DEV", "QPN"),
		ValidArgsFunction: a.completeDeviceQPN,
		RunE: func(cmd *cobra.Command, args []string) error {
			qpn, err := number.Parse(args[1], 32)
			if err != nil {
				return usagef(cmd, "QPN must be a number, not %q", args[1])
			}
			return a.with(func(c *genl.Client) error {
				qp, err := c.QP(args[0], uint32(qpn))
				if err != nil {
					return err
				}
				return a.printer().Object(qpView{qp, explainQP(qp)})
			})
		},
	}

	return group(&cobra.Command{
		Use:   "qp COMMAND",
		Short: "Queue pairs",
		Long:  "List and show queue pairs.",
	}, list, show)
}

// explainQP says in plain words why a queue pair is in error.
func explainQP(qp genl.QP) string {
	var s []string
	if doc := qp.ErrorReason.Doc(); doc != "" {
		s = append(s, doc)
	} else {
		s = append(s, "This version of ibctl does not know the reason "+qp.ErrorReason.String()+".")
	}
	if qp.ErrorReason == genl.ErrorReasonNone {
		return s[0]
	}
	switch {
	case qp.ErrorOpcode != nil && qp.ErrorPSN != nil:
		s = append(s, fmt.Sprintf("It was found at packet %d, %s.", *qp.ErrorPSN, *qp.ErrorOpcode))
	case qp.ErrorOpcode != nil:
		s = append(s, fmt.Sprintf("It was found at a packet %s.", *qp.ErrorOpcode))
	}
	if qp.LastNAK != 0 {
		s = append(s, fmt.Sprintf("The last refusal from the peer was: %s.", qp.LastNAK))
	}
	if qp.Type != genl.QPTypeRC {
		return strings.Join(s, " ")
	}
	if qp.LastHeardMS != nil {
		ago := time.Duration(*qp.LastHeardMS) * time.Millisecond
		s = append(s, fmt.Sprintf("The peer was last heard %s ago.", ago))
	} else {
		s = append(s, "The peer was never heard.")
	}
	return strings.Join(s, " ")
}
