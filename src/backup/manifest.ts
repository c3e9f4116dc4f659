/** The manifest of a backup: its first member, which says what else is in it. */

/** Version of the layout of a backup. A reader refuses newer ones. */
export const backupFormat = 1;

export const manifestName = 'backup.json';
/** Member with the database of etcd. */
export const databaseName = 'etcd.db';
/** Folders of members: the cluster's authority with its keys, and the configuration files of the role. */
export const pkiFolder = 'pki/';
export const configFolder = 'config/';

/** An error about the content of a backup, in one line. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export interface Member {
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 digest in hexadecimal digits. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: typeof backupFormat;
  /** Version of minik8s that made the backup. */
  readonly minik8s: string;
  /** Time in RFC 3339. */
  readonly created: string;
  /** Host name of the machine. */
  readonly host: string;
  /** Revision of the database, and its number of keys. */
  readonly revision: number;
  readonly keys: number;
  readonly members: Readonly<Record<string, Member>>;
}

export const formatManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Reads the text of a manifest. Throws BackupError that says why the backup cannot be used. */
export function parseManifest(text: string): Manifest {
  const value = objectIn(text);
  const { format, minik8s, created, host, revision, keys, members } = value;
  if (typeof format === 'number' && format > backupFormat) throw newer(minik8s);
  if (format !== backupFormat) throw damaged('it has no known format');
  return {
    format,
    minik8s: textOf(minik8s, 'minik8s'),
    created: timeOf(created),
    host: textOf(host, 'host'),
    revision: countOf(revision, 'revision'),
    keys: countOf(keys, 'keys'),
    members: membersOf(members),
  };
}

function newer(version: unknown): BackupError {
  const name = isPlain(version) ? version : 'its version is unreadable';
  return new BackupError(
    `the backup was made by a newer minik8s (${name}): use that version, or a later one`,
  );
}

/** Returns whether a text can be printed in one line: it has no control characters of a terminal. */
const isPlain = (value: unknown): value is string =>
  typeof value === 'string' && /^\P{C}{0,255}$/u.test(value);

/** Returns a name of a file that may be hostile, as it can be printed in one line. */
export const shownName = (name: string): string =>
  JSON.stringify(name.slice(0, 100).replaceAll(/\p{C}/gu, '?'));

export const damaged = (why: string) => new BackupError(`the backup is damaged: ${why}`);

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(`${manifestName} is not JSON`);
  }
  if (!isObject(value)) throw damaged(`${manifestName} is no object`);
  return value;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: unknown, field: string): string {
  if (!isPlain(value)) throw damaged(`${manifestName}: ${field} is no text`);
  return value;
}

function timeOf(value: unknown): string {
  const time = textOf(value, 'created');
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time) || Number.isNaN(Date.parse(time)))
    throw damaged(`${manifestName}: created is no time`);
  return time;
}

function countOf(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw damaged(`${manifestName}: ${field} is no number`);
  return value;
}

function membersOf(value: unknown): Manifest['members'] {
  if (!isObject(value)) throw damaged(`${manifestName}: members is no object`);
  const members: Record<string, Member> = {};
  for (const [name, member] of Object.entries(value)) {
    if (!isMemberName(name)) throw damaged(`the name ${shownName(name)} of a member is not allowed`);
    if (!isObject(member)) throw damaged(`${manifestName}: ${name} is no object`);
    members[name] = { size: countOf(member.size, `${name}: size`), sha256: textOf(member.sha256, name) };
  }
  for (const name of neededMembers) if (!Object.hasOwn(members, name)) throw damaged(`it has no ${name}`);
  return members;
}

/** Members without which a cluster cannot go on: with another authority every certificate would be void. */
export const neededMembers = [databaseName, `${pkiFolder}ca.crt`, `${pkiFolder}ca.key`] as const;

/** Returns true for the database, a file of the authority and the configuration: no name leads elsewhere. */
export const isMemberName = (name: string): boolean =>
  name === databaseName ||
  name === `${configFolder}master.yaml` ||
  /^pki\/(?!\.{1,2}$)[A-Za-z0-9._-]+$/.test(name);

/**
 * Returns the name of a backup file, such as `minik8s-2026-11-29T09-17-29Z-x4k2p.tar.zst.age` if encrypted.
 * `suffix`: five random characters, because two masters may write to one place in the same second.
 */
export const backupFileName = (created: string, suffix: string, isEncrypted: boolean): string =>
  `minik8s-${created.replace(/\.\d+/, '').replaceAll(':', '-')}-${suffix}.tar.zst${isEncrypted ? '.age' : ''}`;

/**
 * Returns the time in RFC 3339, and whether it is encrypted, from the name of a backup file. Earlier versions
 * wrote names without a suffix.
 */
export function readFileName(
  name: string,
): { readonly created: string; readonly isEncrypted: boolean } | undefined {
  const match = /^minik8s-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z(?:-[a-z0-9]{5})?\.tar\.zst(\.age)?$/.exec(
    name,
  );
  if (!match) return undefined;
  const [, day, hour, minute, second, age] = match;
  return { created: `${day}T${hour}:${minute}:${second}Z`, isEncrypted: age !== undefined };
}
