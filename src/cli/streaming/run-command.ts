/** What exec and attach have in common: a program's streams joined to those of this process. */
import { finished, pipeline } from 'node:stream/promises';
import { errorMessage } from '../../base/log.ts';
import { query } from '../../client/resource-path.ts';
import { type ChannelSocket, ChannelStream, commandChannels } from '../../streams/channels.ts';
import type { Io, Stdio, Terminal } from '../io.ts';
import { type ObjectTarget, targetPath } from '../targets.ts';
import type { VerbContext } from '../verb.ts';
import { exitCodeOf } from './command-outcome.ts';
import { openChannels } from './websocket.ts';

/** How standard input is used: not at all, as bytes, or as a terminal in raw mode. */
export interface Input {
  readonly stdin: boolean;
  readonly terminal?: Terminal;
}

/** What -i and -t come to: a terminal only where standard input is one, as in kubectl. */
export function chooseInput(
  stdio: Stdio,
  { stdin, tty }: { stdin: boolean; tty: boolean },
): Input & {
  /** A terminal was asked for and there is none. */
  readonly refused: boolean;
} {
  const { terminal } = stdio;
  return { stdin, refused: stdin && tty && !terminal, ...(stdin && tty && terminal && { terminal }) };
}

export const noTerminal = 'Unable to use a TTY - input is not a terminal or the right kind of file\n';

/** The query of exec and attach: which streams are wanted. A terminal has one output. */
export const streamsQuery = ({ stdin, terminal }: Input): Readonly<Record<string, boolean | undefined>> => ({
  stdin: stdin || undefined,
  stdout: true,
  stderr: !terminal || undefined,
  tty: terminal !== undefined || undefined,
});

export interface ExecRequest {
  readonly container: string;
  readonly command: readonly string[];
  readonly input: Input;
}

/** Path and query of an exec. */
export function execPath(pod: ObjectTarget, { container, command, input }: ExecRequest): string {
  const words = command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  return `${targetPath(pod, 'exec')}${query({ container, ...streamsQuery(input) })}${words}`;
}

/** Runs a program with the streams of this process, and passes its exit code on. Rejects as `runProgram` does. */
export async function runCommand(
  context: VerbContext,
  path: string,
  input: Input,
  options: { readonly redraw?: boolean } = {},
): Promise<void> {
  const { io } = context;
  input.terminal?.setRaw(true);
  let code: number;
  try {
    code = await runProgram(context, path, io.stdio(), { ...input, ...options });
  } finally {
    input.terminal?.setRaw(false);
  }
  endWith(io, code);
}

/** A program's exit code as that of this command. */
export function endWith(io: Io, code: number): void {
  if (code === 0) return;
  io.err(`command terminated with exit code ${code}\n`);
  io.exitWith(code);
}

/**
 * Resolves with the program's exit code. Rejects with StatusError, TransportError, or an Error that says what kept it
 * from running or that the connection was lost.
 */
export async function runProgram(
  { io: { clock, signal }, cluster }: VerbContext,
  path: string,
  stdio: Stdio,
  joined: Joined,
): Promise<number> {
  const dialing = cluster().dial(path);
  const channels = await openChannels({ dialing, protocol: 'v5.channel.k8s.io', clock, signal });
  return join(channels, stdio, joined);
}

/** With `redraw` a program that ran before is told another size first, so that it draws its screen again. */
type Joined = Input & { readonly redraw?: boolean };

async function join(
  channels: ChannelSocket,
  stdio: Stdio,
  { stdin, terminal, redraw = false }: Joined,
): Promise<number> {
  const stdout = new ChannelStream(channels, commandChannels.stdout);
  const stderr = new ChannelStream(channels, commandChannels.stderr);
  let outcome = '';
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
    await Promise.race([channels.closed, failed.promise, printed.then(() => channels.closed)]);
    stdout.deliver(undefined);
    stderr.deliver(undefined);
    await printed;
  } finally {
    forget?.();
    sending.abort();
    channels.terminate();
  }
  if (outcome === '') throw new Error('the connection was lost before the command ended');
  return exitCodeOf(outcome);
}

/** Passes standard input on, and its end. A program that ends before has no use for the rest. */
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
  const tell = (more = 0) => {
    const size = terminal.size();
    if (!size) return;
    const message = `${JSON.stringify({ Width: size.width + more, Height: size.height + more })}\n`;
    channels.send(commandChannels.resize, message);
  };
  if (redraw) tell(1);
  tell();
  return terminal.onResize(() => tell());
}
