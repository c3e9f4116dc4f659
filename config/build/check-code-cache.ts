/** Usage: check-code-cache.ts SCRIPT CACHE [SCRIPT CACHE…]. Fails unless V8 accepts each code cache. */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

const files = process.argv.slice(2);
for (let at = 0; at < files.length; at += 2) {
  const [source = '', cache = ''] = files.slice(at);
  const cachedData = readFileSync(cache);
  const script = new Script(readFileSync(source, 'latin1'), { filename: 'minik8s', cachedData });
  if (script.cachedDataRejected !== false) {
    process.stderr.write(`V8 does not accept ${cache}\n`);
    process.exitCode = 1;
  }
}
