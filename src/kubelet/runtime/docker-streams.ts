/**
 * Implements exec and attach over connections that Docker hands over whole ("hijacked"): input is sent to the
 * program, both outputs come back.
 */
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { type Clock, sleep } from '../../base/clock.ts';
import { call, unlessGone, untilAborted } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { type OutputPiece, outputPieces } from '../../docker/streams.ts';
import { killSession } from './kill-session.ts';
import type { ExecConfig, ProcessStreams, TerminalSize } from './runtime.ts';

/**
 * Timeout for an engine that does not record the exit status. Docker records it before it closes the streams.
 */
const exitStatusTimeout = 5_000;

/** Timeout for the end of the streams, which Docker ends before it reports that the container has ended. */
const closeTimeout = 1_000;

/** Resolves with the program's exit status. */
export async function execIn(
  docker: Docker,
  id: string,
  { command, tty, killOnAbort = false }: ExecConfig,
  streams: ProcessStreams,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  const stdin = streams.stdin !== undefined;
  const exec = await call('run a command', () =>
    docker.getContainer(id).exec({
      Cmd: [...command],
      AttachStdin: stdin,
      // Unwanted output is dropped here: without an output stream Docker does not report the end of the
      // program.
      AttachStdout: true,
      AttachStderr: true,
      Tty: tty,
    }),
  );
  signal.throwIfAborted();
  const connection = await call('run a command', () => exec.start({ hijack: true, stdin, Tty: tty }));
  try {
    await join(connection, streams, tty, (size) => exec.resize(size), signal);
  } catch (error) {
    // Docker lets a program continue when its streams have ended.
    if (killOnAbort && signal.aborted) await endProgram(docker, id, exec, clock);
    throw error;
  }
  return exitStatus(exec, clock);
}

/**
 * Timeout for a program that the kernel does not let end. Docker records the end of a killed program at once.
 */
const killTimeout = 10_000;

/** Kills the program and the processes that it started. Docker has no call for that. */
async function endProgram(docker: Docker, id: string, exec: Docker.Exec, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + killTimeout;
  for (;;) {
    const program = await unlessGone(call('read the state of a command', () => exec.inspect()));
    // A program begins to run a moment after its start: until then it has no process id and no exit status.
    if (!program || (!program.Running && program.ExitCode !== null)) return;
    if (program.Pid > 0) await killIn(docker, id, program.Pid);
    if (clock.monotonic() > deadline)
      throw new RuntimeError('Failed', `cannot end a command in container ${id.slice(0, 12)}`);
    await sleep(clock, 20);
  }
}

/**
 * Kills the program with that process id and the processes that it started; does nothing if its container has
 * ended.
 */
async function killIn(docker: Docker, id: string, pid: number): Promise<void> {
  const container = await unlessGone(call('inspect', () => docker.getContainer(id).inspect()));
  if (container?.State.Running) await killSession(pid, container.State.Pid);
}

async function exitStatus(exec: Docker.Exec, clock: Clock): Promise<number> {
  const deadline = clock.now() + exitStatusTimeout;
  for (;;) {
    const { Running, ExitCode } = await call('read the exit code of a command', () => exec.inspect());
    if (!Running && ExitCode !== null) return ExitCode;
    if (clock.now() > deadline)
      throw new RuntimeError('Failed', 'Docker does not report the exit code of the command');
    await sleep(clock, 20);
  }
}

/**
 * Resolves when the container's first process has ended. Rejects with Conflict when it had ended before, so
 * that a client such as `kubectl run -i` reads the log instead of missing the output.
 */
export async function attachTo(
  container: Docker.Container,
  streams: ProcessStreams,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const info = await call('inspect', () => container.inspect());
  if (!info.State.Running) throw notRunning();
  // Input is sent to a container only if it was created with an open stdin; otherwise Docker would accept
  // the input and drop it.
  const stdin = streams.stdin !== undefined && info.Config.OpenStdin === true;
  const options = { stream: true, hijack: true, stdin, stdout: true, stderr: true };
  const connection = (await call('attach', () => container.attach(options))) as Duplex;
  const joined = join(
    connection,
    stdin ? streams : { ...streams, stdin: undefined },
    info.Config.Tty,
    (size) => container.resize(size),
    signal,
  );
  const closed = joined.then(
    () => true,
    () => true,
  );
  // Docker ends the streams of a container that ended after the attach. An attach to a container that had
  // ended before it would last until the container starts again.
  const missed = unlessGone(call('inspect', () => container.inspect())).then(async (now) => {
    if (now?.State.Running) return false;
    if (await Promise.race([closed, sleep(clock, closeTimeout).then(() => false)])) return false;
    connection.destroy();
    return true;
  });
  const [result] = await Promise.allSettled([joined, missed]);
  if (await missed) throw notRunning();
  if (result.status === 'rejected') throw result.reason;
}

const notRunning = () => new RuntimeError('Conflict', 'the container is not running');

type Resize = (size: { h: number; w: number }) => Promise<unknown>;

/**
 * Passes data until Docker closes the connection. Rejects when the connection breaks and when the signal
 * aborts.
 */
async function join(
  connection: Duplex,
  { stdin, stdout, stderr, sizes }: ProcessStreams,
  tty: boolean,
  resize: Resize,
  signal: AbortSignal,
): Promise<void> {
  const abort = () => connection.destroy();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  connection.on('error', () => undefined);
  stdin?.pipe(connection);
  const over = new AbortController();
  if (tty) void followSizes(sizes, resize, over.signal);
  const outputs = { stdout, stderr };
  try {
    const chunks = untilAborted(connection as AsyncIterable<Uint8Array>, signal);
    for await (const { stream, data } of tty ? asStdout(chunks) : outputPieces(chunks)) {
      await write(outputs[stream], data);
    }
    signal.throwIfAborted();
  } finally {
    over.abort();
    signal.removeEventListener('abort', abort);
    stopReading(stdin, connection);
    connection.destroy();
  }
}

/** Input that arrives after the end is dropped. */
function stopReading(stdin: Readable | undefined, connection: Duplex): void {
  stdin?.unpipe(connection);
  stdin?.resume();
}

async function* asStdout(chunks: AsyncIterable<Uint8Array>): AsyncIterable<OutputPiece> {
  for await (const data of chunks) yield { stream: 'stdout', ends: true, data };
}

/** Resolves when more may be written; data without a reader is dropped. */
async function write(target: Writable | undefined, data: Uint8Array): Promise<void> {
  if (!target || target.destroyed || target.writableEnded) return;
  if (target.write(data)) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(target, 'drain', { signal }), once(target, 'close', { signal })])
    // A broken stream has no reader.
    .catch(() => undefined)
    .finally(() => settled.abort());
}

async function followSizes(
  sizes: AsyncIterable<TerminalSize>,
  resize: Resize,
  over: AbortSignal,
): Promise<void> {
  for await (const { width, height } of sizes) {
    if (over.aborted) return;
    // A program that has just ended has no terminal.
    await resize({ w: width, h: height }).catch(() => undefined);
  }
}
