/** The log of a container as Docker's API answers it. */
import { call, untilAborted } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { demultiplex } from '../../docker/streams.ts';
import { eachOnce } from './followed-log.ts';
import { logEntries, printEntries } from './log-entries.ts';
import type { LogOptions } from './runtime.ts';

/** Yields what the container printed, both outputs in the order in which the engine got them. */
export async function* readLog(
  docker: Docker,
  id: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const info = await call('inspect', () => docker.getContainer(id).inspect());
  const stream = await call('read logs', () => logStream(docker, id, options, signal));
  const output = untilAborted(stream, signal);
  const { Tty: tty } = info.Config;
  const { follow, timestamps } = options;
  if (follow) yield* printEntries(eachOnce(logEntries(output, { tty })), { timestamps });
  else if (timestamps) yield* printEntries(logEntries(output, { tty }), { timestamps });
  else yield* tty ? output : demultiplex(output);
}

/** The modem's own call: dockerode's `logs` reads everything into memory unless it follows. */
function logStream(
  { modem }: Docker,
  id: string,
  { follow, timestamps, tailLines, since }: LogOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  return new Promise((resolve, reject) => {
    modem.dial(
      {
        path: `/containers/${id}/logs?`,
        method: 'GET',
        isStream: true,
        abortSignal: signal,
        statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
        options: {
          follow,
          // By its time an entry is known that comes again.
          timestamps: timestamps || follow,
          stdout: true,
          stderr: true,
          ...(tailLines !== undefined && { tail: tailLines }),
          ...(since !== undefined && { since: since / 1000 }),
        },
      },
      (error: unknown, stream: unknown) =>
        error ? reject(error) : resolve(stream as AsyncIterable<Uint8Array>),
    );
  });
}
