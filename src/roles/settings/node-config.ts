/** `/etc/minik8s/node.yaml`: what a node is told, in Kubernetes' words or in those of older node files. */
import { statSync } from 'node:fs';
import { UsageError } from '../../base/usage-error.ts';
import { workerSettings } from '../worker/worker.ts';
import { type ConfigFile, readSettings, type Settings } from './settings.ts';

export const nodeSettings = [
  ...workerSettings,
  'server',
  'token',
  'ca-cert-hash',
  'labels',
  'taints',
  'pod-cidr',
] as const;

export type NodeSettings = Settings<(typeof nodeSettings)[number]>;

export const nodeConfigFile = '/etc/minik8s/node.yaml';

/** Spellings of files that other programs were given: the key, what it is here, and whether to say so. */
const spellings: readonly (readonly [string, string, 'as good' | 'old'])[] = [
  ['name', 'node-name', 'as good'],
  ['Name', 'node-name', 'old'],
  ['Labels', 'labels', 'old'],
];

export const isNodeSpelling = (key: string) => spellings.some(([old]) => old === key);

export interface NodeConfigSources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly configFile?: string;
  /** Told, a line each, what works and should be written otherwise. */
  readonly warn: (message: string) => void;
}

/** Throws UsageError naming the flag, variable or key that cannot be used. */
export function readNodeConfig({ warn, configFile = nodeConfigFile, ...sources }: NodeConfigSources) {
  return readSettings(nodeSettings, {
    ...sources,
    configFile,
    translate: (file, path) => {
      if (file.token !== undefined && othersRead(path)) {
        warn(`${path} holds a token, but users other than its owner may read it; run chmod 600 ${path}`);
      }
      return translate(file, path, (message) => warn(`${path}: ${message}`));
    },
  });
}

/** Throws UsageError when one thing is said in two spellings. */
function translate(file: ConfigFile, path: string, warn: (message: string) => void): ConfigFile {
  const result: Record<string, unknown> = { ...file };
  for (const [old, name, kind] of spellings) {
    if (!Object.hasOwn(result, old)) continue;
    // Nothing says which of the two counts.
    if (Object.hasOwn(result, name))
      throw new UsageError(
        `${path}: ${old}: is another spelling of ${name}:, which is also there; keep one of them`,
      );
    result[name] = result[old];
    delete result[old];
    if (kind === 'old') warn(`${old}: is an older spelling; write ${name}:`);
  }
  return result;
}

const othersRead = (path: string) => (statSync(path).mode & 0o077) !== 0;
