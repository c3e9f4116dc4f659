/** Connects a program's streams to those of this process, for exec and attach. */
import { finished, pipeline } from 'node:stream/promises';
import { errorMessage } from '../../base/log.ts';
import { type ChannelSocket, ChannelStream, commandChannels } from '../../streams/channels.ts';
import type { Io, Stdio, Terminal } from '../io.ts';
import type { VerbContext } from '../verb.ts';
import { exitCodeOf } from './command-outcome.ts';
import { openChannels } from './websocket.ts';

/** Use of standard input: none, as bytes, or as a terminal in raw mode. */
export interface Input {
  readonly stdin: boolean;
  readonly terminal?: Terminal;
}

/**
 * Returns the use of standard input that -i and -t request. If standard input is no terminal, prints a
 * message and ignores -t, as kubectl does.
 */
export function inputOf({ io, flags }: VerbContext, tty: boolean): Input {
  const stdin = flags.on('stdin');
  const { terminal } = io.stdio();
  if (!stdin || !tty) return { stdin };
  if (terminal) return { stdin, terminal };
  if (!flags.on('quiet')) io.err('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  return { stdin };
}

/** Returns the query of exec and attach with the wanted streams. A terminal has a single output. */
export const streamsQuery = ({ stdin, terminal }: Input): Readonly<Record<string, boolean | undefined>> => ({
  stdin: stdin || undefined,
  stdout: true,
  stderr: !terminal || undefined,
  tty: terminal !== undefined || undefined,
});

/**
 * Calls `run` with the streams of this process, with the terminal in raw mode meanwhile, and sets the exit
 * code. Rejects like `run`.
 */
export async function withStreams(
  io: Io,
  { terminal }: Input,
  run: (stdio: Stdio) => Promise<number>,
): Promise<void> {
  terminal?.setRaw(true);
  let code: number;
  try {
    code = await run(io.stdio());
  } finally {
    terminal?.setRaw(false);
  }
  endWith(io, code);
}

/** Makes a program's exit code that of this command. */
export function endWith(io: Io, code: number): void {
  if (code === 0) return;
  io.err(`command terminated with exit code ${code}\n`);
  io.exitWith(code);
}

/**
 * Resolves to the program's exit code. Rejects with StatusError, TransportError, LostConnection, or an Error
 * with the reason why the program could not run.
 */
export async function runProgram(
  { io: { clock, signal }, cluster }: VerbContext,
  path: string,
  stdio: Stdio,
  joined: Joined,
): Promise<number> {
  const dialing = await cluster().dial(path);
  const channels = await openChannels({ dialing, protocol: 'v5.channel.k8s.io', clock, signal });
  return join(channels, stdio, joined);
}

/**
 * The connection ended before the server reported the end of the command, which may still run. The output
 * that arrived has been passed on.
 */
export class LostConnection extends Error {
  override readonly name = 'LostConnection';

  constructor() {
    super('the connection was lost before the command ended');
  }
}

/** `redraw` first gives a running program a different terminal size, so that it redraws its screen. */
type Joined = Input & {
  readonly redraw?: boolean;
  /** Resolves when the user has typed the keys that end the connection and leave the program running. */
  readonly detached?: Promise<void>;
};

async function join(
  channels: ChannelSocket,
  stdio: Stdio,
  { stdin, terminal, redraw = false, detached }: Joined,
): Promise<number> {
  const stdout = new ChannelStream(channels, commandChannels.stdout);
  const stderr = new ChannelStream(channels, commandChannels.stderr);
  let outcome = '';
  let isDetached = false;
  const left = detached?.then(() => {
    isDetached = true;
  });
  const printed = Promise.all([
    pipeline(stdout, stdio.stdout, { end: false }),
    pipeline(stderr, stdio.stderr, { end: false }),
  ]);
  channels.listen((channel, data) => {
    if (channel === commandChannels.stdout) stdout.deliver(data);
    if (channel === commandChannels.stderr) stderr.deliver(data);
    if (channel === commandChannels.error) outcome += data.toString();
  });
  const sending = new AbortController();
  const failed = Promise.withResolvers<never>();
  if (stdin) send(channels, stdio, sending.signal).catch(failed.reject);
  const forget = terminal && followSize(channels, terminal, redraw);
  try {
    await Promise.race([
      channels.closed,
      failed.promise,
      printed.then(() => channels.closed),
      ...(left === undefined ? [] : [left]),
    ]);
    stdout.deliver(undefined);
    stderr.deliver(undefined);
    await printed;
  } finally {
    forget?.();
    sending.abort();
    channels.terminate();
  }
  if (isDetached) return 0;
  if (outcome === '') throw new LostConnection();
  return exitCodeOf(outcome);
}

/** Passes standard input on, including its end. If the program ends earlier, the rest is dropped. */
async function send(channels: ChannelSocket, { stdin }: Stdio, signal: AbortSignal): Promise<void> {
  const stream = new ChannelStream(channels, commandChannels.stdin);
  const read = finished(stdin, { writable: false, signal });
  stdin.pipe(stream, { end: false });
  try {
    await read;
  } catch (error) {
    if (signal.aborted) return;
    throw new Error(`cannot read the input: ${errorMessage(error)}`);
  } finally {
    stdin.unpipe(stream);
    stdin.pause();
  }
  await finished(stream.end(), { readable: false });
  channels.send(commandChannels.close, Buffer.from([commandChannels.stdin]));
}

function followSize(channels: ChannelSocket, terminal: Terminal, redraw: boolean): () => void {
  const sendSize = (more = 0) => {
    const size = terminal.size();
    if (!size) return;
    const message = `${JSON.stringify({ Width: size.width + more, Height: size.height + more })}\n`;
    channels.send(commandChannels.resize, message);
  };
  if (redraw) sendSize(1);
  sendSize();
  return terminal.onResize(() => sendSize());
}
