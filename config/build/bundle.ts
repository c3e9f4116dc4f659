/**
 * The JavaScript of the one file: a small main, two applications with the commands, and the threads' files.
 * main compiles code from V8's code cache when it is needed. The client is a separate application, since it
 * starts for every command that a user types, and the servers are five times as large. The client is in
 * packs (chunks.ts), of which a command reads those that it needs.
 */
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type { ApplicationName, ThreadName } from '../../src/os/assets.ts';
import { makeChunks, type PackGroup } from './chunks.ts';

export interface Bundles {
  readonly main: string;
  readonly server: string;
  /** Paths of the client's packs, by name. */
  readonly client: Readonly<Record<string, string>>;
  /** Paths by the names of their assets (src/os/assets.ts). */
  readonly threads: Readonly<Record<string, string>>;
}

export interface BundleOptions {
  readonly root: string;
  readonly outdir: string;
  readonly version: string;
}

/** The first file of each thread (src/os/thread.ts). */
const threadSources: Readonly<Record<ThreadName, string>> = {
  'yaml-worker': 'src/apiserver/body/yaml-worker.ts',
  'jsonata-worker': 'src/states-language/jsonata/worker.ts',
};

/** Packs of several chunks: what every command needs, and what most commands of the client need. */
export const packGroups: readonly [PackGroup, ...PackGroup[]] = [
  { name: 'start', modules: ['src/dispatch.ts'] },
  { name: 'client', modules: ['src/cli/ctl.ts', 'src/cli/commands/get.ts'] },
];

/** Modules of the client that most commands do without; they are loaded when they are used (chunks.ts). */
const lateModules = [
  'src/apimachinery/go-template/evaluate.ts',
  'src/apimachinery/go-template/parse.ts',
  'src/apimachinery/jsonpath/evaluate.ts',
  'src/apimachinery/jsonpath/parse.ts',
  'src/apimachinery/yaml.ts',
  'src/cli/kustomize/program.ts',
  'src/cli/manifests/manifests.ts',
  'src/client/kubeconfig-yaml.ts',
];

/** Returns the application that contains a module of a command. */
const applicationOf = (file: string): ApplicationName =>
  file.startsWith('src/roles/') ? 'server' : 'client';

/**
 * Writes main.cjs, the applications and the threads' files to `outdir`. Throws esbuild's errors, with the
 * file and line.
 */
export async function bundle({ root, outdir, version }: BundleOptions): Promise<Bundles> {
  const main = join(outdir, 'main.cjs');
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
      'import.meta.url': JSON.stringify('file:///minik8s/bundle/application.cjs'),
      // ssh2 refers to its own directory while it is loaded, but reads no file there.
      __dirname: JSON.stringify('/minik8s/bundle'),
    },
    logLevel: 'warning',
  };
  const commands = new Set<string>();
  await build({
    ...common,
    entryPoints: ['src/main.ts'],
    outfile: main,
    plugins: [commandsFromApplications(root, commands)],
  });
  const commandsOf = (name: ApplicationName) => [...commands].filter((file) => applicationOf(file) === name);
  const server = join(outdir, 'server.cjs');
  // esbuild finds the commands in an order that differs from build to build.
  const entries = commandsOf('server')
    .sort()
    .map((path) => `${JSON.stringify(path)}: () => require('./${path}'),`);
  await build({
    ...common,
    stdin: { contents: `module.exports = {\n${entries.join('\n')}\n};`, resolveDir: root },
    outfile: server,
    banner: { js: '(function (exports, require, module) {' },
    footer: { js: '})' },
    plugins: [leaveOut],
  });
  const client = await makeChunks({
    common: { ...common, plugins: [leaveOut] },
    outdir: join(outdir, 'client'),
    entries: commandsOf('client'),
    groups: packGroups,
    late: lateModules,
  });
  const threads: Record<string, string> = {};
  for (const [name, source] of Object.entries(threadSources)) {
    const outfile = join(outdir, `${name}.cjs`);
    await build({ ...common, entryPoints: [source], outfile });
    threads[`${name}.cjs`] = outfile;
  }
  return { main, server, client, threads };
}

/**
 * Makes main's `import('./roles/up.ts')` get the module from its application; the names of such modules are
 * collected.
 */
function commandsFromApplications(root: string, commands: Set<string>): Plugin {
  return {
    name: 'commands-from-applications',
    setup(context) {
      context.onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const file = relative(root, join(resolveDir, path));
        commands.add(file);
        return { path: file, namespace: 'application' };
      });
      context.onLoad({ filter: /.*/, namespace: 'application' }, ({ path }) => {
        const module = [applicationOf(path), path].map((text) => JSON.stringify(text)).join(', ');
        return {
          contents: `module.exports = require('./config/build/load-application.ts').loadModule(${module});`,
          loader: 'js',
          resolveDir: root,
        };
      });
    },
  };
}

/** Parts of packages that require native code or files of their own, and that minik8s never uses. */
const leftOut: Readonly<Record<string, string>> = {
  'docker-modem/lib/ssh.js': 'reaching Docker over ssh is not supported; use its socket or TLS',
  'dockerode/lib/session.js': 'BuildKit sessions are not supported',
  'dockerode/lib/buildkit.js': 'BuildKit is not supported',
  // ssh2 uses it to find the fastest cipher, and works without it.
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
