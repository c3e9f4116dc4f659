/**
 * Usage: warm-server.ts APPLICATION.cjs APPLICATION.cache. Loads the modules of every command and
 * sub-command once, and stores the code that V8 compiled.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import type { CommandDef } from 'citty';

interface CommandModule {
  readonly command?: CommandDef;
  processCommand?(given: typeof ports): CommandDef;
}

/** The features' verbs are modules of the application too, so they are loaded without ctl. */
const ports = { features: { verbs: {}, logs: {} } };

const [source = '', cache = ''] = process.argv.slice(2);
const script = new Script(readFileSync(source, 'latin1'), { filename: 'minik8s' });
const module: { exports: Record<string, () => CommandModule> } = { exports: {} };
script.runInThisContext()(module.exports, createRequire(process.execPath), module);

const called = async <T>(value: T | (() => T)): Promise<Awaited<T>> =>
  await (typeof value === 'function' ? (value as () => T)() : value);

async function load(command: CommandDef | undefined): Promise<void> {
  const inner = await called(command?.subCommands);
  for (const one of Object.values(inner ?? {})) await load(await called(one));
}

for (const open of Object.values(module.exports)) {
  const { command, processCommand } = open();
  await load(processCommand?.(ports) ?? command);
}
writeFileSync(cache, script.createCachedData());
// The process must be ended, because a command of the client listens for signals as soon as it is created.
process.exit();
