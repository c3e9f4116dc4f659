/** Usage: check-code-cache.ts APPLICATION.cjs APPLICATION.cache. Fails unless V8 accepts the code cache. */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

const [source = '', cache = ''] = process.argv.slice(2);
const cachedData = readFileSync(cache);
const { cachedDataRejected } = new Script(readFileSync(source, 'latin1'), {
  filename: 'minik8s',
  cachedData,
});
if (cachedDataRejected !== false) {
  process.stderr.write(`V8 does not accept ${cache}\n`);
  process.exitCode = 1;
}
