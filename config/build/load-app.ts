/** Runs inside the packaged file only: gets a command's module out of the application (see bundle.ts). */
import { createRequire } from 'node:module';
import { getRawAsset } from 'node:sea';
import { Script } from 'node:vm';

type Modules = Readonly<Record<string, () => unknown>>;

let modules: Modules | undefined;

/** The module at a path such as `src/roles/up.ts`; what it imports is initialised now, the rest is not. */
export function loadApp(path: string): unknown {
  modules ??= compile();
  return modules[path]?.();
}

function compile(): Modules {
  // esbuild escapes what is not ASCII, so every byte is one character.
  const source = Buffer.from(getRawAsset('app.cjs')).toString('latin1');
  const cachedData = Buffer.from(getRawAsset('app.cache'));
  const script = new Script(source, { filename: 'minik8s', cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(process.execPath), module);
  return module.exports;
}
