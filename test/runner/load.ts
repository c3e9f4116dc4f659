/** Keeps processors busy during a measurement. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Ends with its parent process, even if the parent is killed. */
const busy = 'const parent = process.ppid; while (process.ppid === parent);';

/** Starts `count` busy processes of normal priority, and returns a function that ends them. */
export function startLoad(count: number): () => void {
  const processes: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of processes) child.kill('SIGKILL');
  };
}
