import { pathToFileURL } from 'node:url';
import type { Script } from '../../src/cli/demo/script.ts';
import { startScriptedModel } from '../../src/cli/demo/scripted-model.ts';

/**
 * A scripted model in a process of its own: `node test/fakes/model-server.ts <module that exports script>`.
 * Prints `{"url": …}`; a line `books` on stdin prints the books as one JSON line; the end of stdin stops it.
 */
const modulePath = process.argv[2];
if (modulePath === undefined) {
  process.stderr.write('usage: model-server.ts <module that exports `script`>\n');
  process.exit(2);
}
const { script } = (await import(pathToFileURL(modulePath).href)) as { script: Script };
const model = await startScriptedModel({ script });
process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
process.stdin.setEncoding('utf8');
let pending = '';
for await (const chunk of process.stdin) {
  pending += chunk;
  const lines = pending.split('\n');
  pending = lines.pop() ?? '';
  for (const line of lines) {
    if (line === 'books') process.stdout.write(`${JSON.stringify(model.requests)}\n`);
  }
}
await model.stop();
