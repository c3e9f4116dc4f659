/** Messages of exec and attach in a WebSocket (v5.channel.k8s.io): the first byte is the channel. Pure. */
import { isRecord } from '../../../../apimachinery/equality.ts';
import { recordsAt, textAt } from '../../../../apimachinery/fields.ts';
import { exitCodeInWords } from '../../../../why/exit-codes.ts';

export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

const encoder = new TextEncoder();

export function message(channel: number, data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data;
  const whole = new Uint8Array(bytes.length + 1);
  whole[0] = channel;
  whole.set(bytes, 1);
  return whole;
}

/** Ends the input of the program. */
export const endOfInput = (): Uint8Array<ArrayBuffer> =>
  message(channels.close, Uint8Array.of(channels.stdin));

export const resizeMessage = (columns: number, rows: number): Uint8Array<ArrayBuffer> =>
  message(channels.resize, JSON.stringify({ Width: columns, Height: rows }));

/** Returns the parts of a message; undefined for an empty one. */
export function partsOf(
  received: Uint8Array,
): { readonly channel: number; readonly data: Uint8Array } | undefined {
  const [channel] = received;
  return channel === undefined ? undefined : { channel, data: received.subarray(1) };
}

/** Returns how a command ended, in words, from the Status on the error channel. */
export function endInWords(text: string): string {
  const status = parse(text);
  if (textAt(status, 'status') === 'Success') return 'The command has ended.';
  const cause = recordsAt(status, 'details', 'causes').find(({ reason }) => reason === 'ExitCode');
  const code = Number(textAt(cause, 'message') || Number.NaN);
  if (Number.isInteger(code))
    return `The command has ended with exit code ${code}: ${exitCodeInWords(code)}.`;
  return textAt(status, 'message') || text || 'The connection has ended.';
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Runs bash where the container has it, else sh. */
const shell = ['/bin/sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash || exec sh'];

export interface ContainerPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Returns the path that runs a command in a container with a terminal; a shell if no command is given. */
export const execPath = (place: ContainerPlace, command: readonly string[] = shell): string =>
  commandPath(place, command, { stdin: 'true', stdout: 'true', tty: 'true' });

/** Returns the path that runs a program whose output is bytes; its input too if `stdin` is true. */
export const programPath = (place: ContainerPlace, command: readonly string[], stdin: boolean): string =>
  commandPath(place, command, { stdout: 'true', stderr: 'true', ...(stdin && { stdin: 'true' }) });

function commandPath(
  { namespace, pod, container }: ContainerPlace,
  command: readonly string[],
  streams: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ container, ...streams });
  for (const word of command) query.append('command', word);
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec?${query}`;
}
