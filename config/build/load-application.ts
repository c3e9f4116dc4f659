/** Runs inside the packaged file only: loads a command's module from its application (see bundle.ts). */
import { createRequire } from 'node:module';
import { getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import type { ApplicationName } from '../../src/os/assets.ts';

type Modules = Readonly<Record<string, () => unknown>>;

const loaded = new Map<ApplicationName, Modules>();

/**
 * Returns the module at a path such as `src/roles/up.ts`; only this module and its imports are initialised.
 */
export function loadModule(application: ApplicationName, path: string): unknown {
  const modules = loaded.get(application) ?? compile(application);
  loaded.set(application, modules);
  return modules[path]?.();
}

function compile(application: ApplicationName): Modules {
  // esbuild escapes non-ASCII characters, so every byte is one character.
  const source = Buffer.from(getRawAsset(`${application}.cjs`)).toString('latin1');
  const cachedData = Buffer.from(getRawAsset(`${application}.cache`));
  const script = new Script(source, { filename: 'minik8s', cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(process.execPath), module);
  return module.exports;
}
