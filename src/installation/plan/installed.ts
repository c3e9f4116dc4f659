/** The record of an installation: what uninstall has to undo. */
import { type Role, roles } from './role.ts';

export const recordFile = '/etc/minik8s/installed.json';

/** A file as it was before an installation. */
export interface EarlierFile {
  readonly text: string;
  readonly mode: number;
}

export interface Installed {
  readonly role: Role;
  /** Directory of the cluster's data. */
  readonly dataDir: string;
  /** Socket of the Docker engine with the pods. */
  readonly dockerSocket: string;
  /** Files, links and directories that did not exist before, in the order of their creation. */
  readonly created: readonly string[];
  /** Files that existed before and were changed, as they were, by path. */
  readonly before: Readonly<Record<string, EarlierFile>>;
  /** Values of kernel parameters before they were raised, by name. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** Packages that were installed; uninstall leaves them. */
  readonly packages: readonly string[];
  /** Digest of the file, settings and unit with which the service was last started successfully. */
  readonly started?: string;
}

export const formatInstalled = (installed: Installed): string => `${JSON.stringify(installed, null, 2)}\n`;

/** Reads the record; throws an Error whose message says what is wrong with it. */
export function parseInstalled(text: string): Installed {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error('expected an object');
  const { role, dataDir, dockerSocket, created, before, sysctls, packages, started } = value;
  const known = roles.find((name) => name === role);
  if (known === undefined) throw new Error(`role: expected one of ${roles.join(', ')}`);
  return {
    role: known,
    dataDir: path(dataDir, 'dataDir'),
    dockerSocket: path(dockerSocket, 'dockerSocket'),
    created: texts(created, 'created'),
    before: fileMap(before),
    sysctls: textMap(sysctls, 'sysctls'),
    packages: texts(packages, 'packages'),
    ...(typeof started === 'string' && { started }),
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function path(value: unknown, field: string): string {
  if (typeof value !== 'string' || !value.startsWith('/')) throw new Error(`${field}: expected a path`);
  return value;
}

function texts(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new Error(`${field}: expected a list of texts`);
  return value;
}

function textMap(value: unknown, field: string): Readonly<Record<string, string>> {
  if (!isRecord(value) || !Object.values(value).every((each) => typeof each === 'string'))
    throw new Error(`${field}: expected texts by name`);
  return value as Readonly<Record<string, string>>;
}

function fileMap(value: unknown): Installed['before'] {
  if (!isRecord(value)) throw new Error('before: expected files by path');
  const files: Record<string, EarlierFile> = {};
  for (const [path, file] of Object.entries(value)) {
    if (!isRecord(file) || typeof file.text !== 'string' || typeof file.mode !== 'number')
      throw new Error(`before: ${path}: expected text and mode`);
    files[path] = { text: file.text, mode: file.mode };
  }
  return files;
}
