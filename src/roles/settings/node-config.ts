/**
 * `/etc/minik8s/node.yaml`: the settings of a node, under their own names or under the names of older node
 * files.
 */
import { statSync } from 'node:fs';
import { UsageError } from '../../base/usage-error.ts';
import type { ConfigFile } from './config-file.ts';
import { type PartSettings, settingRows } from './setting-table.ts';
import { readSettings } from './settings.ts';

export const nodeRows = settingRows('node', 'join');

export type NodeSettings = PartSettings<'node' | 'join'>;

export const nodeConfigFile = '/etc/minik8s/node.yaml';

/** Further accepted keys of the file, each with the setting that it stands for, and whether to warn of it. */
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
  /** Called with one line for each accepted key that should be spelled differently. */
  readonly warn: (message: string) => void;
}

/** Throws UsageError that names the invalid flag, variable or key. */
export function readNodeConfig({ warn, configFile = nodeConfigFile, ...sources }: NodeConfigSources) {
  return readSettings(nodeRows, {
    ...sources,
    command: 'minik8s node',
    configFile,
    translate: (file, path) => {
      if (file.token !== undefined && othersRead(path)) {
        warn(`${path} holds a token, but users other than its owner may read it; run chmod 600 ${path}`);
      }
      return translate(file, path, (message) => warn(`${path}: ${message}`));
    },
  });
}

/** Throws UsageError if a setting is given in two spellings. */
function translate(file: ConfigFile, path: string, warn: (message: string) => void): ConfigFile {
  const result: Record<string, unknown> = { ...file };
  for (const [old, name, kind] of spellings) {
    if (!Object.hasOwn(result, old)) continue;
    // Neither spelling has precedence.
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
