/** Keeps processors busy beside what is measured. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Ends with the process that started it, also when that is killed. */
const busy = 'const parent = process.ppid; while (process.ppid === parent);';

/** Starts `count` processes of normal priority that are always busy, and returns what ends them. */
export function startLoad(count: number): () => void {
  const processes: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of processes) child.kill('SIGKILL');
  };
}
