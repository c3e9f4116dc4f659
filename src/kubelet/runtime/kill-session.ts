/** Ends a program that was started in a container, with everything that stayed in its session. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** New processes may be started while the others are found and killed. */
const mostRounds = 100;

/**
 * Kills the processes of the session `leader` that see the files of the container whose first process is `container`: a
 * number alone may meanwhile be another's. Resolves when none is left.
 */
export async function killSession(leader: number, container: number): Promise<void> {
  const files = await filesOf(container);
  if (files === undefined || files === (await filesOf(process.pid))) return;
  for (let round = 0; round < mostRounds; round++) {
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
      // The name before these may have anything in it.
      const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(session) !== leader || state === 'Z' || state === 'X') return [];
      return (await filesOf(pid)) === files ? [pid] : [];
    }),
  );
  return found.flat();
}

/** The mount namespace; undefined for a process that is gone. */
const filesOf = (pid: number) => readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
