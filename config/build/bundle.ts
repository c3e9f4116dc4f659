/**
 * The JavaScript of the one file: a main that answers `version` by itself, an application holding every command, which
 * main compiles from V8's code cache when a command is asked for, and what threads run.
 */
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type { ThreadName } from '../../src/base/assets.ts';

export interface Bundles {
  readonly main: string;
  readonly app: string;
  /** By the names of their assets (src/base/assets.ts). */
  readonly threads: Readonly<Record<string, string>>;
}

export interface BundleOptions {
  readonly root: string;
  readonly outdir: string;
  readonly version: string;
}

/** The file where each thread begins (src/base/thread.ts). */
const threadSources: Readonly<Record<ThreadName, string>> = {
  'yaml-worker': 'src/apiserver/yaml-worker.ts',
  'jsonata-worker': 'src/states-language/jsonata/worker.ts',
};

/** Writes main.cjs, app.cjs and the threads' files to `outdir`. Throws what esbuild says, with the file and line. */
export async function bundle({ root, outdir, version }: BundleOptions): Promise<Bundles> {
  const main = join(outdir, 'main.cjs');
  const app = join(outdir, 'app.cjs');
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    supported: { 'dynamic-import': false },
    define: {
      MINIK8S_VERSION: JSON.stringify(version),
      'import.meta.url': JSON.stringify('file:///minik8s/bundle/app.cjs'),
      // ssh2 asks where it lies as it is loaded; nothing is read there.
      __dirname: JSON.stringify('/minik8s/bundle'),
    },
    logLevel: 'warning',
  };
  const commands = new Set<string>();
  await build({
    ...common,
    entryPoints: ['src/main.ts'],
    outfile: main,
    plugins: [commandsFromApp(root, commands)],
  });
  const entries = [...commands].map((path) => `${JSON.stringify(path)}: () => require('./${path}'),`);
  await build({
    ...common,
    stdin: { contents: `module.exports = {\n${entries.join('\n')}\n};`, resolveDir: root },
    outfile: app,
    banner: { js: '(function (exports, require, module) {' },
    footer: { js: '})' },
    plugins: [leaveOut],
  });
  const threads: Record<string, string> = {};
  for (const [name, source] of Object.entries(threadSources)) {
    const outfile = join(outdir, `${name}.cjs`);
    await build({ ...common, entryPoints: [source], outfile });
    threads[`${name}.cjs`] = outfile;
  }
  return { main, app, threads };
}

/** In main, `import('./roles/up.ts')` asks the application for that module; which were asked for is collected. */
function commandsFromApp(root: string, commands: Set<string>): Plugin {
  return {
    name: 'commands-from-app',
    setup(context) {
      context.onResolve({ filter: /^\.\// }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const file = relative(root, join(resolveDir, path));
        commands.add(file);
        return { path: file, namespace: 'app' };
      });
      context.onLoad({ filter: /.*/, namespace: 'app' }, ({ path }) => ({
        contents: `module.exports = require('./config/build/load-app.ts').loadApp(${JSON.stringify(path)});`,
        loader: 'js',
        resolveDir: root,
      }));
    },
  };
}

/** Parts of packages that need native code or files of their own, and that minik8s never uses. */
const leftOut: Readonly<Record<string, string>> = {
  'docker-modem/lib/ssh.js': 'reaching Docker over ssh is not supported; use its socket or TLS',
  'dockerode/lib/session.js': 'BuildKit sessions are not supported',
  'dockerode/lib/buildkit.js': 'BuildKit is not supported',
  // ssh2 asks it which cipher is quicker here, and does without.
  'cpu-features/lib/index.js': 'native code is not part of the one file',
};

const leaveOut: Plugin = {
  name: 'leave-out',
  setup(context) {
    const require = createRequire(import.meta.url);
    for (const [module, message] of Object.entries(leftOut)) {
      const file = require.resolve(module);
      context.onLoad({ filter: new RegExp(`${module.replaceAll('.', '\\.')}$`) }, ({ path }) =>
        path === file
          ? { contents: `module.exports = () => { throw new Error(${JSON.stringify(message)}); };` }
          : undefined,
      );
    }
  },
};
