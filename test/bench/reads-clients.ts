/**
 * The clients of reads.ts, in a process of their own, with minimal HTTP, so that the server dominates the
 * measurement.
 */
import { Lane, requestBytes, type Target } from './lane.ts';

export interface ReadsTask extends Target {
  readonly path: string;
  /** Number of concurrent requests; each has a connection. */
  readonly inFlight: number;
  readonly ms: number;
}

export interface ReadsAnswer {
  readonly answers: number;
  readonly ms: number;
}

async function run(task: ReadsTask): Promise<ReadsAnswer> {
  const lanes = Array.from({ length: task.inFlight }, () => new Lane(task));
  const request = requestBytes('GET', task.path);
  // Connecting is not part of the measurement. For an unauthenticated connection, the answer of /livez would
  // be the last.
  await Promise.all(lanes.map((lane) => lane.ask(requestBytes('GET', '/api'))));
  let answers = 0;
  const start = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      for (; performance.now() < start + task.ms; answers++) await lane.ask(request);
      lane.close();
    }),
  );
  return { answers, ms: performance.now() - start };
}

process.on('message', async (task: ReadsTask) => {
  process.send?.(await run(task));
});
