/** Worker threads: each has its own file in the source and its own asset in the packaged executable. */
import { isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { readAsset, type ThreadName } from './assets.ts';

/** Starts a thread; `source` is its file when the program is not packaged. */
export const startThread = (name: ThreadName, source: URL, options: WorkerOptions): Worker =>
  isSea()
    ? new Worker(readAsset(`${name}.cjs`).toString(), { ...options, eval: true })
    : new Worker(source, options);
