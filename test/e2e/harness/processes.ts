/** Processes and mounts of this machine, found by the names they refer to. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

/** Returns the processes whose arguments contain the text, except this one. */
export function processesNaming(text: string): number[] {
  return processesWhere('cmdline', (content) => content.includes(text));
}

/** Returns the processes in a control group that is named after one of the containers. */
export function processesInGroups(containers: readonly string[]): number[] {
  if (containers.length === 0) return [];
  return processesWhere('cgroup', (content) => containers.some((id) => content.includes(id)));
}

/** Returns the processes in the network namespace at a path such as `/run/netns/NAME`. */
export function processesIn(namespace: string): number[] {
  const wanted = gone(() => `net:[${statSync(namespace).ino}]`);
  return wanted === undefined
    ? []
    : running().filter((pid) => gone(() => readlinkSync(`/proc/${pid}/ns/net`)) === wanted);
}

function processesWhere(file: string, matches: (content: string) => boolean): number[] {
  return running().filter((pid) => matches(gone(() => readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? ''));
}

/** Returns all processes except this one and zombies. */
function running(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => gone(() => readFileSync(`/proc/${name}/cmdline`, 'latin1')) !== '')
    .map(Number);
}

/** Returns the names of the running programs that a process has started. */
export function childrenOf(parent: number): string[] {
  return running().flatMap((pid) => {
    const [, name, ppid] =
      /\((.*)\) \S (\d+)/.exec(gone(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '') ?? [];
    return name !== undefined && Number(ppid) === parent ? [name] : [];
  });
}

/** Returns the name of the file that a process runs. */
export function programOf(pid: number): string | undefined {
  return gone(() => readlinkSync(`/proc/${pid}/exe`))
    ?.replace(/ \(deleted\)$/, '')
    .split('/')
    .at(-1);
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns the mount points below a directory, in the order of mounting. */
export function mountsBelow(directory: string): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${directory}/`));
}

/** Returns undefined for a process that ended between being listed and being read. */
function gone(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
