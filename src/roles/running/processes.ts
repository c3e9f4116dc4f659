/**
 * The processes of minik8s on this machine: those that hold a data directory. A process is recognized by the
 * open pid file that it has locked, so a process id that was reused is never taken for one.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Role } from '../../installation/plan/role.ts';
import type { Service } from '../../installation/plan/service-manager.ts';
import { holderOf, identityOf } from '../data-directory.ts';
import { roleIn } from '../doctor/running-command.ts';
import { unitIn } from './run-record.ts';

export interface OwnProcess {
  readonly pid: number;
  /** Process id and start time, as in the pid file. */
  readonly identity: string;
  readonly role: Role;
  /** Absent if this user may not see which directory the process holds. */
  readonly dataDir?: string;
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Target of /proc/PID/exe; absent if this user may not read it. */
  readonly executable?: string;
  /** User id of its owner. */
  readonly uid: number;
  /** Service that the process belongs to. */
  readonly service?: Service;
}

/**
 * Returns the processes of root and of this user, ordered by process id. Processes of other users are left
 * out, because these users could forge the files. Processes of containers are left out too.
 */
export function ownProcesses(): readonly OwnProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)) ?? []);
}

/** Returns undefined for a process that is no minik8s, has ended meanwhile, or may not be examined. */
function processOf(pid: number): OwnProcess | undefined {
  try {
    return ownProcessOf(pid);
  } catch (error) {
    if (endedCodes.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function ownProcessOf(pid: number): OwnProcess | undefined {
  const words = wordsOf(pid);
  const role = roleOf(words);
  if (role === undefined) return undefined;
  const { uid } = statSync(`/proc/${pid}`);
  const identity = identityOf(pid);
  if (identity === undefined || (uid !== 0 && uid !== process.getuid?.())) return undefined;
  if (!seesOwnFiles(pid)) return undefined;
  const held = heldDirectory(pid);
  if (held === 'none') return undefined;
  const service = serviceOf(pid);
  const base = { pid, identity, role, uid, words, ...(service && { service }) };
  if (held === 'hidden') return base;
  const executable = readlinkSync(`/proc/${pid}/exe`);
  return { ...base, executable, words: [executable, ...words.slice(1)], dataDir: held.dataDir };
}

/** Error codes of a process that has ended meanwhile, or that this user may not examine. */
const endedCodes: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

const wordsOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);

/** Returns undefined for a process that no service manager has started. */
function serviceOf(pid: number): Service | undefined {
  const unit = unitIn(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  if (unit !== undefined) return { manager: 'systemd', name: unit };
  const [, parent = '0'] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const name = supervisedBy(wordsOf(Number(parent)));
  return name === undefined ? undefined : { manager: 'openrc', name };
}

/** Returns the service of OpenRC whose supervisor has these words; undefined for another program. */
export function supervisedBy([program = '', name]: readonly string[]): string | undefined {
  return program.split('/').at(-1) === 'supervise-daemon' ? name : undefined;
}

/** Returns the role of `minik8s ROLE …`, and of a development run, `node src/main.ts ROLE …`. */
export function roleOf(words: readonly string[]): Role | undefined {
  const [program = '', first = '', second = ''] = words;
  if (program.split('/').at(-1)?.startsWith('minik8s')) return roleIn([first]);
  return first.endsWith('src/main.ts') ? roleIn([second]) : roleIn([first]);
}

/**
 * Returns false for a process in another mount namespace, such as that of a container: its directories are
 * not those of this machine.
 */
function seesOwnFiles(pid: number): boolean {
  const [theirs, own] = [linkOf(`/proc/${pid}/ns/mnt`), linkOf('/proc/self/ns/mnt')];
  return theirs === undefined || own === undefined || theirs === own;
}

type Held = { readonly dataDir: string } | 'none' | 'hidden';

/** Returns the directory whose pid file the process has open and has written. */
function heldDirectory(pid: number): Held {
  const descriptors = descriptorsOf(pid);
  if (descriptors === undefined) return wordsOf(pid)[0]?.split('/').at(-1) === 'minik8s' ? 'hidden' : 'none';
  const directories = descriptors
    .map((descriptor) => linkOf(join(`/proc/${pid}/fd`, descriptor)))
    .filter((target) => target?.endsWith('/minik8s.pid') === true)
    .map((target) => dirname(target ?? ''));
  const dataDir = directories.find((directory) => holderOf(directory) === pid);
  return dataDir === undefined ? 'none' : { dataDir };
}

/** Returns undefined without the rights to list them. */
function descriptorsOf(pid: number): readonly string[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor was closed meanwhile.
    return undefined;
  }
}

/** Returns true while this process runs; another process with its id is not taken for it. */
export const stillRuns = ({ pid, identity }: Pick<OwnProcess, 'pid' | 'identity'>): boolean =>
  identityOf(pid) === identity;
