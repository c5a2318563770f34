// Package e2e tests the program plinth-docs with real clients: the conformance suite,
// inspector and TypeScript clients of the protocol, a browser, and Lighthouse.
//
// The tests need npm and Chromium, and report a skip if they are missing. On Debian:
//
//	apt-get install npm chromium fonts-noto-cjk
//
// Packages of the npm registry are pinned in npm/package-lock.json and installed once
// into the user's cache. To change a version, edit npm/package.json and run npm install
// --package-lock-only in the same directory.
package e2e
