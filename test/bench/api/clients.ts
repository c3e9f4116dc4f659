/** The clients of the API server's measurement, in a process of their own; the same for both servers. */
import { Lane, requestBytes, type Target } from '../lane.ts';
import { type Watched, watch } from './clients-watch.ts';
import { created, filled, pod, podName } from './objects.ts';

export type Work =
  | { readonly type: 'fill'; readonly pods: number }
  /** `*` in `path` is replaced by the names of the pods in turn. */
  | { readonly type: 'read'; readonly path: string; readonly pods: number }
  | { readonly type: 'create' | 'update' | 'patch' }
  | { readonly type: 'watch'; readonly watchers: number; readonly events: number; readonly everyMs: number };

export interface ClientsTask {
  readonly target: Target;
  readonly work: Work;
  /** Number of concurrent requests; each has a connection. */
  readonly inFlight: number;
  readonly ms: number;
}

export interface Done extends Partial<Watched> {
  readonly answers: number;
  readonly ms: number;
}

export type ClientsAnswer = Done | { readonly failed: string };

/** Counter for names, different in each run, so that no name is used twice. */
let names = 0;

type Step = (lane: Lane, number: number) => Promise<unknown>;

function stepsOf(work: Exclude<Work, { type: 'watch' }>, run: string): (lane: number) => Step {
  switch (work.type) {
    case 'fill':
      return () => (lane, number) =>
        lane.ask(requestBytes('POST', filled, JSON.stringify(pod(podName(number)))));
    case 'create':
      return () => (lane, number) =>
        lane.ask(requestBytes('POST', created, JSON.stringify(pod(`${run}-${number}`))));
    case 'read': {
      if (!work.path.includes('*')) {
        const request = requestBytes('GET', work.path);
        return () => (lane) => lane.ask(request);
      }
      return () => (lane, number) =>
        lane.ask(requestBytes('GET', work.path.replace('*', podName(number % work.pods))));
    }
    case 'patch': {
      const type = 'application/merge-patch+json';
      return (own) => (lane, number) => {
        const body = JSON.stringify({
          metadata: { annotations: { 'bench.example.com/count': `${run}-${number}` } },
        });
        return lane.ask(requestBytes('PATCH', `${filled}/${podName(own)}`, body, type));
      };
    }
    case 'update':
      return (own) => {
        const path = `${filled}/${podName(own)}`;
        let last: string | undefined;
        return async (lane, number) => {
          last ??= await lane.ask(requestBytes('GET', path));
          const object = JSON.parse(last) as ReturnType<typeof pod>;
          object.metadata.annotations['bench.example.com/count'] = `${run}-${number}`;
          last = await lane.ask(requestBytes('PUT', path, JSON.stringify(object)));
        };
      };
  }
}

async function requests({ target, work, inFlight, ms }: ClientsTask): Promise<Done> {
  if (work.type === 'watch') throw new Error('a watch is no request');
  const steps = stepsOf(work, `run-${Date.now().toString(36)}-${names++}`);
  const lanes = Array.from({ length: inFlight }, (_, own) => ({
    lane: new Lane(target, work.type === 'update'),
    step: steps(own),
  }));
  // Connecting is not part of the measurement.
  await Promise.all(lanes.map(({ lane }) => lane.ask(requestBytes('GET', '/api'))));
  let answers = 0;
  let next = 0;
  const start = performance.now();
  const more = () => (work.type === 'fill' ? next < work.pods : performance.now() < start + ms);
  await Promise.all(
    lanes.map(async ({ lane, step }) => {
      for (; more(); answers++) await step(lane, next++);
      lane.close();
    }),
  );
  return { answers, ms: performance.now() - start };
}

async function run(task: ClientsTask): Promise<Done> {
  if (task.work.type !== 'watch') return requests(task);
  const watched = await watch(task.target, task.work);
  return { ...watched, answers: watched.deliveries };
}

process.on('message', async (task: ClientsTask) => {
  const answer: ClientsAnswer = await run(task).catch((error: unknown) => ({ failed: String(error) }));
  process.send?.(answer);
});
