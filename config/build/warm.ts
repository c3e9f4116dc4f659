/** Usage: warm.ts APP.cjs APP.cache. Runs every command's modules once and keeps what V8 compiled on the way. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

const [source = '', cache = ''] = process.argv.slice(2);
const script = new Script(readFileSync(source, 'latin1'), { filename: 'minik8s' });
const module: { exports: Record<string, () => unknown> } = { exports: {} };
script.runInThisContext()(module.exports, createRequire(process.execPath), module);
for (const load of Object.values(module.exports)) load();
writeFileSync(cache, script.createCachedData());
