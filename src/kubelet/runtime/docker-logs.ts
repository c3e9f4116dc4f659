/** The log of a container on Docker, from the engine's files or, if they are not accessible, its API. */
import { type Clock, sleep } from '../../base/clock.ts';
import { call, untilAborted } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { demultiplex } from '../../docker/streams.ts';
import { followFiles } from './followed-files.ts';
import { eachOnce } from './followed-log.ts';
import { readKeptFiles } from './kept-files.ts';
import { logEntries, printEntries } from './log-entries.ts';
import { type EngineLogConfig, followableSize } from './log-rotation.ts';
import type { LogOptions } from './runtime.ts';

/** Docker ends the log of a container before it reports that the container has ended. */
const endTimeout = 10_000;

/** Opens a log for `ContainerRuntime.logs`: both outputs in the order in which the engine got them. */
export async function openLog(
  docker: Docker,
  id: string,
  options: LogOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const info = await call('inspect', () => docker.getContainer(id).inspect());
  const { Tty: tty } = info.Config;
  const { follow, timestamps } = options;
  if (follow) return openFollowed(docker, info, options, clock, signal);
  const isPlain = followableSize(info.HostConfig.LogConfig as EngineLogConfig) !== undefined;
  const kept = isPlain && info.LogPath && (await readKeptFiles(info.LogPath, options, signal));
  if (kept) return kept;
  const output = untilAborted(await openStream(docker, id, options, signal), signal);
  if (timestamps) return printEntries(logEntries(output, { tty }), { timestamps });
  return tty ? output : demultiplex(output);
}

/** Follows the engine's files where they are accessible, and otherwise the engine's API. */
async function openFollowed(
  docker: Docker,
  { Id: id, LogPath: path, HostConfig, Config }: Docker.ContainerInspectInfo,
  options: LogOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const left = new AbortController();
  const both = AbortSignal.any([signal, left.signal]);
  const ended = containerEnd(docker, id, both);
  // Prevents an unhandled rejection; every waiter on this promise gets the error too.
  ended.catch(() => undefined);
  const maxBytes = followableSize(HostConfig.LogConfig as EngineLogConfig);
  try {
    const followed = path && maxBytes && (await followFiles({ path, maxBytes }, options, ended, both));
    if (followed) return untilLeft(followed, left);
    const output = untilAborted(await openStream(docker, id, options, both), both);
    const entries = untilEnded(logEntries(output, { tty: Config.Tty }), ended, clock, both);
    return untilLeft(printEntries(eachOnce(entries), options), left);
  } catch (error) {
    left.abort();
    throw error;
  }
}

async function* untilLeft<T>(chunks: AsyncIterable<T>, left: AbortController): AsyncIterable<T> {
  try {
    yield* chunks;
  } finally {
    left.abort();
  }
}

/**
 * Throws when the log has ended and the container has not, for example because the engine was stopped and
 * left its containers running.
 */
async function* untilEnded<T>(
  entries: AsyncIterable<T>,
  ended: Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): AsyncIterable<T> {
  yield* entries;
  if (signal.aborted) return;
  const late = sleep(clock, endTimeout).then(() => true);
  if ((await Promise.race([ended, late])) && !signal.aborted)
    throw new RuntimeError('Unavailable', 'Docker has ended the log of a container that still runs');
}

/**
 * Resolves when the container no longer runs or the signal aborts; its log is complete then. Rejects when the
 * engine becomes unreachable in the meantime.
 */
async function containerEnd(docker: Docker, id: string, signal: AbortSignal): Promise<void> {
  const path = `/containers/${id}/wait?`;
  const options = { condition: 'not-running' };
  try {
    const answer = await stream(docker, { path, method: 'POST', options }, signal);
    for await (const _ of untilAborted(answer, signal));
  } catch (error) {
    if (signal.aborted || (error instanceof RuntimeError && error.reason === 'NotFound')) return;
    throw error;
  }
}

const openStream = (
  docker: Docker,
  id: string,
  { follow, timestamps, tailLines, since }: LogOptions,
  signal: AbortSignal,
) =>
  stream(
    docker,
    {
      path: `/containers/${id}/logs?`,
      method: 'GET',
      options: {
        follow,
        // The time identifies an entry that is sent again.
        timestamps: timestamps || follow,
        stdout: true,
        stderr: true,
        ...(tailLines !== undefined && { tail: tailLines }),
        ...(since !== undefined && { since: since / 1000 }),
      },
    },
    signal,
  );

/**
 * Streams an answer with the modem's own call: dockerode's `logs` reads everything into memory unless it
 * follows, and its `wait` never ends when the engine does.
 */
function stream(
  { modem }: Docker,
  request: { readonly path: string; readonly method: string; readonly options: object },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const statusCodes = { 200: true, 404: 'no such container', 500: 'server error' };
  const whole = { ...request, isStream: true, abortSignal: signal, statusCodes };
  return call(
    'read logs',
    () =>
      new Promise((resolve, reject) => {
        modem.dial(whole, (error: unknown, answer: unknown) =>
          error ? reject(error) : resolve(answer as AsyncIterable<Uint8Array>),
        );
      }),
  );
}
