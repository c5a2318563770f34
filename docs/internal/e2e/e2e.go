// Package e2e tests the program plinth-docs from outside, with the clients that people
// and models use: the protocol's conformance suite, inspector and TypeScript clients, a
// browser, and Lighthouse.
//
// The tests need npm and Chromium, and skip loudly where they are missing: on Debian
//
//	apt-get install npm chromium fonts-noto-cjk
//
// What comes from the npm registry is fixed in npm/package-lock.json and installed once
// into the user's cache. To change a version, edit npm/package.json and run npm install
// --package-lock-only beside it.
package e2e
