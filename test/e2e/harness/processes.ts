/** Processes and mounts of this machine, found by what they name. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

/** The processes whose arguments contain the text, but this one. */
export function processesNaming(text: string): number[] {
  return processesWhere('cmdline', (content) => content.includes(text));
}

/** The processes in a control group that is named after one of the containers. */
export function processesInGroups(containers: readonly string[]): number[] {
  if (containers.length === 0) return [];
  return processesWhere('cgroup', (content) => containers.some((id) => content.includes(id)));
}

/** The processes whose network is the namespace at a path such as `/run/netns/NAME`. */
export function processesIn(namespace: string): number[] {
  const wanted = gone(() => `net:[${statSync(namespace).ino}]`);
  return wanted === undefined
    ? []
    : running().filter((pid) => gone(() => readlinkSync(`/proc/${pid}/ns/net`)) === wanted);
}

function processesWhere(file: string, matches: (content: string) => boolean): number[] {
  return running().filter((pid) => matches(gone(() => readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? ''));
}

/** All processes but this one, and those that have ended and wait for their parent to notice. */
function running(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => gone(() => readFileSync(`/proc/${name}/cmdline`, 'latin1')) !== '')
    .map(Number);
}

/** The names of the programs that a process has started and that have not ended. */
export function childrenOf(parent: number): string[] {
  return running().flatMap((pid) => {
    const [, name, ppid] =
      /\((.*)\) \S (\d+)/.exec(gone(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '') ?? [];
    return name !== undefined && Number(ppid) === parent ? [name] : [];
  });
}

/** The name of the file that a process runs. */
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

/** Where something is mounted below a directory, in the order of mounting. */
export function mountsBelow(directory: string): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${directory}/`));
}

/** A process may end between being listed and being read. */
function gone(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
