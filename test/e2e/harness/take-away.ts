/**
 * Ends what runs for a test and removes what it has on this machine, whatever state that is in. Without a single
 * `await`: it is also done between a signal and the process's end, when nothing else may happen.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killIfThere, mountsBelow, processesIn, processesInGroups, processesNaming } from './processes.ts';

/** What lies in a directory, and whatever runs on it, goes with it; whatever runs in a namespace too. */
export type Belonging =
  | { readonly kind: 'directory'; readonly path: string }
  /** The data directory of a minik8s that works on this machine itself, and the file that it was started from. */
  | { readonly kind: 'cluster'; readonly path: string; readonly executable: string }
  | { readonly kind: 'namespace'; readonly name: string };

const namespacePath = (name: string) => `/run/netns/${name}`;

export function isThere(belonging: Belonging): boolean {
  return existsSync(belonging.kind === 'namespace' ? namespacePath(belonging.name) : belonging.path);
}

/** Throws when something resists; all the rest is gone then nevertheless. */
export function takeAway(belongings: readonly Belonging[]): void {
  const failures: unknown[] = [];
  const attempt = (step: () => void) => {
    try {
      step();
    } catch (error) {
      failures.push(error);
    }
  };
  attempt(() => endProcesses(belongings));
  for (const { path, executable } of clustersOf(belongings))
    attempt(() => run(executable, 'reset', '--yes', '--data-dir', path));
  for (const path of directoriesOf(belongings)) {
    attempt(() => unmountBelow(path));
    attempt(() => rmSync(path, { recursive: true, force: true }));
  }
  for (const name of namespacesOf(belongings).filter((each) => existsSync(namespacePath(each))))
    attempt(() => run('ip', 'netns', 'delete', name));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
}

/** Kills until nobody is left: one that is killed may just have started another. Throws after two seconds of that. */
export function endProcesses(belongings: readonly Belonging[]): void {
  const directories = directoriesOf(belongings);
  const containers = directories.flatMap(containersBelow);
  const namespaces = namespacesOf(belongings).map(namespacePath).filter(existsSync);
  const pids = () => [
    ...directories.flatMap(processesNaming),
    ...processesInGroups(containers),
    ...namespaces.flatMap(processesIn),
  ];
  for (let round = 0; round < 100; round++) {
    const left = pids();
    if (left.length === 0) return;
    for (const pid of left) killIfThere(pid);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  throw new Error(`processes ${pids().join(', ')} do not end`);
}

function unmountBelow(directory: string): void {
  for (const point of mountsBelow(directory).reverse()) run('umount', '--lazy', point);
}

/** The IDs of all containers of the engines below a host's directory (host.ts, bare-machine.ts), running or not. */
function containersBelow(directory: string): string[] {
  return ['data/containers', 'places/docker/containers']
    .map((place) => join(directory, place))
    .filter(existsSync)
    .flatMap((place) => readdirSync(place));
}

const clustersOf = (belongings: readonly Belonging[]) =>
  belongings.filter((belonging) => belonging.kind === 'cluster');

const directoriesOf = (belongings: readonly Belonging[]) =>
  belongings.flatMap((belonging) => (belonging.kind === 'namespace' ? [] : [belonging.path]));

const namespacesOf = (belongings: readonly Belonging[]) =>
  belongings.flatMap((belonging) => (belonging.kind === 'namespace' ? [belonging.name] : []));

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 });
}
