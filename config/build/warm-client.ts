/**
 * Usage: warm-client.ts FOLDER COMMANDS. Runs the commands, a JSON list of lists of words after `ctl`, with
 * the client's packs in FOLDER, loads the rest of the client, and stores the code that V8 compiled beside
 * each pack.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Script } from 'node:vm';
import type * as Ctl from '../../src/cli/ctl.ts';
import type { CtlFeatures } from '../../src/cli/verb.ts';
import type * as Dispatch from '../../src/dispatch.ts';
import { packGroups } from './bundle.ts';
import { ChunkLoader } from './chunk-loader.ts';

const [folder = '', list = ''] = process.argv.slice(2);
const scripts = new Map<string, Script>();
const loader = new ChunkLoader(
  {
    source: (pack) => readFileSync(join(folder, `${pack}.cjs`), 'latin1'),
    cache: () => undefined,
    onScript: (pack, script) => scripts.set(pack, script),
  },
  packGroups[0].name,
);

const { dispatch } = loader.load('src/dispatch.ts') as typeof Dispatch;
const { processCommand } = loader.load('src/cli/ctl.ts') as typeof Ctl;
/** Verbs of features are loaded below, and are not called here. */
const features: CtlFeatures = { verbs: {}, logs: {}, describers: {}, rules: async () => ({}) };
const kubernetesFields = async () => {
  throw new Error('a usual command reads no fields of kinds');
};
const command = processCommand({ kubernetesFields, features });
const table = { ctl: { about: '', like: 'kubectl' as const, load: async () => command } };
const output = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
for (const words of JSON.parse(list) as string[][]) {
  const status = await dispatch(table, ['ctl', ...words], output);
  if (status !== 0) throw new Error(`ctl ${words.join(' ')} ended with ${status}`);
}
loader.loadAll();
for (const [pack, script] of scripts) writeFileSync(join(folder, `${pack}.cache`), script.createCachedData());
// The process must be ended, because a command of the client listens for signals as soon as it is created.
process.exit();
