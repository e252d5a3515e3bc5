#!/usr/bin/env node
// Plain old JavaScript on purpose: a Node too old for the product must still be able to run this file and say so.
'use strict';
var fs = require('node:fs');
var path = require('node:path');

var MINIMUM = [22, 22];

function isRecent(version) {
  var parts = version.replace(/^v/, '').split('.').map(Number);
  return parts[0] > MINIMUM[0] || (parts[0] === MINIMUM[0] && parts[1] >= MINIMUM[1]);
}

function bundledNode() {
  var dir = path.dirname(fs.realpathSync(__filename));
  for (var i = 0; i < 8; i++) {
    var candidate = path.join(dir, 'node_modules', 'node', 'bin', 'node');
    if (fs.existsSync(candidate)) return candidate;
    var parent = path.dirname(dir);
    if (parent === dir) return undefined;
    dir = parent;
  }
  return undefined;
}

if (isRecent(process.version)) {
  import(require('node:url').pathToFileURL(path.join(__dirname, '..', 'dist', 'cli', 'main.js')).href);
} else {
  var node = bundledNode();
  if (!node) {
    console.error(
      'orchestrator needs Node >= 22.22 and this is ' +
        process.version +
        ': install Node 24, or run `npm install node@24` beside the package and try again.',
    );
    process.exit(2);
  }
  var child = require('node:child_process').spawn(node, [__filename].concat(process.argv.slice(2)), {
    stdio: 'inherit',
  });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  child.on('exit', function (code, signal) {
    process.exit(signal ? 130 : code);
  });
}
