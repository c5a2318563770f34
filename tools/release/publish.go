package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/plinthgo/plinth/tools/release/internal/changelog"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/prepare"
	"github.com/plinthgo/plinth/tools/release/internal/tag"
)

// progress returns a function that prints progress to w.
func progress(w io.Writer) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}

func planCommand() *cobra.Command {
	asJSON, skipSkew := false, false
	cmd := &cobra.Command{
		Use:   "plan [MODULE...]",
		Short: "Print the modules to release, their versions and reasons",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, _, _, err := find(args)
			if err != nil {
				return err
			}
			p, err := plan.Make(cmd.Context(), root,
				plan.Options{Modules: args, SkipSkew: skipSkew, Log: progress(cmd.ErrOrStderr())})
			if err != nil {
				return err
			}
			if asJSON {
				return p.JSON(cmd.OutOrStdout())
			}
			return showPlan(cmd.OutOrStdout(), p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&skipSkew, "without-skew", false,
		"skip the tests of version combinations, which prepare always runs")
	return cmd
}

func skewCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "skew [MODULE...]",
		Short: "Test combinations of released and new module versions",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, _, _, err := find(args)
			if err != nil {
				return err
			}
			p, err := plan.Make(cmd.Context(), root,
				plan.Options{Modules: args, Log: progress(cmd.ErrOrStderr())})
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), p.Skew)
			}
			return showSkew(cmd.OutOrStdout(), p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func prepareCommand() *cobra.Command {
	o := prepare.Options{}
	cmd := &cobra.Command{
		Use:   "prepare",
		Short: "Create the release commit with versions, requirements, hashes and changelog",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := time.Parse(time.DateOnly, o.Date); err != nil {
				return fmt.Errorf("invalid --date %q, want a date such as 2026-01-31: %w", o.Date, errUsage)
			}
			root, _, _, err := find(nil)
			if err != nil {
				return err
			}
			o.Log = progress(cmd.ErrOrStderr())
			result, err := prepare.Run(cmd.Context(), root, o)
			if err != nil {
				return err
			}
			return showPrepared(cmd.OutOrStdout(), result)
		},
	}
	cmd.Flags().StringVar(&o.Date, "date", time.Now().UTC().Format(time.DateOnly),
		"date in the changelog")
	return cmd
}

func tagCommand() *cobra.Command {
	push, remote := false, ""
	cmd := &cobra.Command{
		Use:   "tag",
		Short: "Tag the release commit for all modules with a new version, or none",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, _, _, err := find(nil)
			if err != nil {
				return err
			}
			to := remote
			if !push {
				to = ""
			}
			names, err := tag.Run(cmd.Context(), root, to)
			if err != nil {
				return err
			}
			for _, name := range names {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			if len(names) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "nothing to tag: all versions have tags")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&push, "push", false, "push the tags, all or none")
	cmd.Flags().StringVar(&remote, "remote", "origin", "remote for --push")
	return cmd
}

func notesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "notes MODULE [VERSION]",
		Short: "Print the changelog of a version (default: the version in go.work)",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, _, chosen, err := find(args[:1])
			if err != nil {
				return err
			}
			version := chosen[0].Version
			if len(args) > 1 {
				version = args[1]
			}
			if version == "" {
				return errors.New(chosen[0].Name + " has no releases")
			}
			text, err := os.ReadFile(filepath.Join(root, changelog.File))
			if err != nil {
				return err
			}
			notes, ok := changelog.Section(string(text), chosen[0].Name, version)
			if !ok {
				return fmt.Errorf("%s has no section for %s %s",
					changelog.File, chosen[0].Name, version)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), notes)
			return err
		},
	}
}
