/** Ends a program that was started in a container, with every process that stayed in its session. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Maximum number of rounds: new processes may be started while the others are found and killed. */
const maxRounds = 100;

/**
 * Kills the processes of the session `leader` that share the mount namespace of `container`, the container's
 * first process: the session number alone may belong to another container meanwhile. Resolves when none is
 * left.
 */
export async function killSession(leader: number, container: number): Promise<void> {
  const files = await filesOf(container);
  if (files === undefined || files === (await filesOf(process.pid))) return;
  for (let round = 0; round < maxRounds; round++) {
    const found = await sessionOf(leader, files);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

async function sessionOf(leader: number, files: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      // The process name before these fields may contain any character.
      const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(session) !== leader || state === 'Z' || state === 'X') return [];
      return (await filesOf(pid)) === files ? [pid] : [];
    }),
  );
  return found.flat();
}

/** Returns the mount namespace; undefined for a process that has ended. */
const filesOf = (pid: number) => readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}
