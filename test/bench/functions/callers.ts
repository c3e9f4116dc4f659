/**
 * Callers of a function, in a process of their own: each has a connection, and calls again as soon as it is
 * answered.
 */
import { Lane, requestBytes, type Target } from '../lane.ts';

export interface CallersTask {
  readonly target: Target;
  readonly path: string;
  /** Body of each call. */
  readonly body: string;
  readonly callers: number;
  /** Duration in milliseconds; 0 for one call per caller. */
  readonly ms: number;
  /** Repeats failed calls until they are answered. */
  readonly insist?: boolean;
}

export interface Called {
  readonly answers: number;
  readonly failures: number;
  /** Error of the first failed call. */
  readonly why?: string;
  readonly ms: number;
  /** Durations of calls in milliseconds, sorted. */
  readonly times: readonly number[];
  /** Seconds of processor time of this process. */
  readonly cpu: number;
}

/** Maximum number of calls per caller whose durations are kept. */
const maxTimes = 20_000;
const insistMs = 2;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function call({ target, path, body, callers, ms, insist = false }: CallersTask): Promise<Called> {
  const request = requestBytes('POST', path, body);
  const lanes = Array.from({ length: callers }, () => new Lane(target));
  const times: number[] = [];
  let failures = 0;
  let answers = 0;
  let why: string | undefined;
  // Connecting is not part of a warm call.
  if (ms > 0) await Promise.all(lanes.map((lane) => lane.ask(request).catch(() => lane.close())));
  const before = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      let isOver = false;
      while (!isOver) {
        const began = performance.now();
        try {
          await lane.ask(request);
          answers += 1;
          if (times.length < callers * maxTimes) times.push(performance.now() - began);
          isOver = performance.now() - start >= ms;
        } catch (error) {
          failures += 1;
          why ??= String(error);
          lane.close();
          isOver = !insist && performance.now() - start >= ms;
          await pause(insistMs);
        }
      }
    }),
  );
  const took = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  for (const lane of lanes) lane.close();
  times.sort((a, b) => a - b);
  return {
    answers,
    failures,
    ...(why !== undefined && { why }),
    ms: took,
    times,
    cpu: (user + system) / 1e6,
  };
}

process.on('message', (task: CallersTask) => void call(task).then((called) => process.send?.(called)));
process.on('disconnect', () => process.exit(0));
