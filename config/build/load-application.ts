/** Runs inside the packaged file only: loads a command's module from its application (see bundle.ts). */
import { createRequire } from 'node:module';
import { getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import type { ApplicationName } from '../../src/os/assets.ts';
import { ChunkLoader } from './chunk-loader.ts';

type Modules = Readonly<Record<string, () => unknown>>;

let client: ChunkLoader | undefined;
let server: Modules | undefined;

// esbuild escapes non-ASCII characters, so every byte is one character.
const sourceOf = (name: string) => Buffer.from(getRawAsset(`${name}.cjs`)).toString('latin1');
const cacheOf = (name: string) => Buffer.from(getRawAsset(`${name}.cache`));

/**
 * Returns the module at a path such as `src/roles/up.ts`; only this module and its imports are initialised.
 */
export function loadModule(application: ApplicationName, path: string): unknown {
  if (application === 'server') {
    server ??= compileServer();
    return server[path]?.();
  }
  client ??= new ChunkLoader({ source: sourceOf, cache: cacheOf }, 'start');
  return client.load(path);
}

function compileServer(): Modules {
  const script = new Script(sourceOf('server'), { filename: 'minik8s', cachedData: cacheOf('server') });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(process.execPath), module);
  return module.exports;
}
