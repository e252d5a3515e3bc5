// A blocked install script leaves the machine's old Node silently in use; every script of this package begins here.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(
    `This runs on Node ${process.versions.node} and needs >= 22.22. The pinned devDependency node@24 brings its own: ` +
      'run `npm ci` (its install script must be allowed) and then `npm run …`, which puts node_modules/.bin first.',
  );
  process.exit(2);
}
