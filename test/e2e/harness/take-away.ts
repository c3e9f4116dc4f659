/**
 * Ends the processes of a test and removes its belongings on this machine, in any state. There is no `await`:
 * this also runs between a signal and the process's end, when nothing asynchronous may happen.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killIfThere, mountsBelow, processesIn, processesInGroups, processesNaming } from './processes.ts';

/**
 * Belongings with their processes: a directory includes its contents and processes that use it; a namespace
 * includes its processes.
 */
export type Belonging =
  | { readonly kind: 'directory'; readonly path: string }
  /**
   * The data directory of a minik8s that runs on this machine itself, and the file from which it was started.
   */
  | { readonly kind: 'cluster'; readonly path: string; readonly executable: string }
  | { readonly kind: 'namespace'; readonly name: string };

const namespacePath = (name: string) => `/run/netns/${name}`;

export function isThere(belonging: Belonging): boolean {
  return existsSync(belonging.kind === 'namespace' ? namespacePath(belonging.name) : belonging.path);
}

/** Throws if a belonging cannot be removed; all others are removed nevertheless. */
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

/**
 * Kills repeatedly until no process is left, since a killed process may just have started another. Throws
 * after two seconds.
 */
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

/**
 * Returns the IDs of all containers of the engines below a host's directory (host.ts, bare-machine.ts),
 * running or not.
 */
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
