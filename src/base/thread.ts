/** Worker threads: each has a file of its own in the source, and an asset in the packaged file. */
import { isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { readAsset, type ThreadName } from './assets.ts';

/** Starts the thread; `source` is its file where nothing is packaged. */
export const startThread = (name: ThreadName, source: URL, options: WorkerOptions): Worker =>
  isSea()
    ? new Worker(readAsset(`${name}.cjs`).toString(), { ...options, eval: true })
    : new Worker(source, options);
