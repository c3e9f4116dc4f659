/**
 * The record of a run: the file `run.json` in the data directory, which a role writes when it starts. It
 * outlives the process, so that the log of a process that has ended can be found.
 */
import { fstatSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Role, roles } from '../../installation/plan/role.ts';
import { ifThere } from '../../os/if-there.ts';
import { replaceFile } from '../../os/replace-file.ts';
import { identityOf } from '../data-directory.ts';

/** Name of the record in the data directory. */
export const recordName = 'run.json';

/**
 * Place of a process's log: a file that the process rotates, a file that its caller has opened, the journal
 * of a unit, or a place that does not keep the log, such as a terminal.
 */
export type LogPlace =
  | { readonly kind: 'rotated'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'journal'; readonly unit: string }
  | { readonly kind: 'elsewhere'; readonly what: string };

export interface RunRecord {
  /** Identity of the process, as in its pid file. */
  readonly process: string;
  readonly role: Role;
  readonly version: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly configFile: string;
  readonly dockerSocket?: string;
  /** Name of this machine's node; absent for a master alone. */
  readonly nodeName?: string;
  /** URLs of the masters that a node joins. */
  readonly servers?: readonly string[];
  readonly log: LogPlace;
}

/** Writes the record of this process. */
export const writeRunRecord = (dataDir: string, record: Omit<RunRecord, 'process'>): Promise<void> =>
  replaceFile(
    join(dataDir, recordName),
    `${JSON.stringify({ process: identityOf(process.pid), ...record }, undefined, 2)}\n`,
    { mode: 0o600 },
  );

/** Resolves to the record of the last run; undefined if there is none, or none that can be read as one. */
export async function readRunRecord(dataDir: string): Promise<RunRecord | undefined> {
  const text = await ifThere(readFile(join(dataDir, recordName), 'utf8'));
  return text === undefined ? undefined : parseRunRecord(text);
}

/** Returns undefined for a text that is no record. */
export function parseRunRecord(text: string): RunRecord | undefined {
  let value: Partial<RunRecord> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { process: identity, role, version, startedAt, configFile, log } = value;
  const texts = [identity, version, startedAt, configFile];
  const isWhole =
    texts.every((one) => typeof one === 'string') && roles.some((one) => one === role) && isLogPlace(log);
  return isWhole ? (value as RunRecord) : undefined;
}

function isLogPlace(value: unknown): boolean {
  const { kind, path, unit, what } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const place = { rotated: path, file: path, journal: unit, elsewhere: what }[String(kind)];
  return typeof place === 'string';
}

/** Returns where standard error of this process leads. */
export function standardErrorPlace(environment: Readonly<Record<string, string | undefined>>): LogPlace {
  const stat = fstatSync(2);
  if (environment.JOURNAL_STREAM === `${stat.dev}:${stat.ino}`) return { kind: 'journal', unit: ownUnit() };
  const target = readlinkSync('/proc/self/fd/2');
  if (stat.isFile()) return { kind: 'file', path: target };
  return { kind: 'elsewhere', what: nameOf(target) };
}

function nameOf(target: string): string {
  if (target.startsWith('pipe:')) return 'a pipe to another program';
  return target === '/dev/null' ? '/dev/null, where it is lost' : `the terminal ${target}`;
}

const ownUnit = (): string => unitIn(readFileSync('/proc/self/cgroup', 'utf8')) ?? 'minik8s.service';

/** Returns the service of systemd in the text of /proc/PID/cgroup; undefined outside of one. */
export function unitIn(cgroups: string): string | undefined {
  for (const line of cgroups.split('\n')) {
    const [, unit] = /^(?:0:|\d+:name=systemd):.*\/([^/]+\.service)$/.exec(line) ?? [];
    if (unit !== undefined) return unit;
  }
  return undefined;
}
