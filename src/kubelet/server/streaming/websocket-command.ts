/**
 * Serves exec and attach over a WebSocket, with one channel each for input, outputs, the outcome and terminal
 * sizes.
 */
import { finished } from 'node:stream/promises';
import { ChannelStream, commandChannels as channels } from '../../../streams/channels.ts';
import type { CommandSession, WantedStreams } from './command-session.ts';
import type { CommandProtocol } from './negotiate.ts';
import { outcomeStatus, outcomeText } from './outcome.ts';
import { TerminalSizes } from './terminal-sizes.ts';
import { acceptChannels, type Upgrade } from './websocket.ts';

/** Rejects with RequestError for a request that is not a valid WebSocket request. */
export async function openWebSocketCommand(
  upgrade: Upgrade,
  wanted: WantedStreams,
  protocol: CommandProtocol,
): Promise<CommandSession> {
  const sizes = new TerminalSizes();
  const socket = await acceptChannels(upgrade, protocol);
  const open = (is: boolean, channel: number) => (is ? new ChannelStream(socket, channel) : undefined);
  const stdin = open(wanted.stdin, channels.stdin);
  const stdout = open(wanted.stdout, channels.stdout);
  const stderr = open(wanted.stderr, channels.stderr);
  socket.listen((channel, data) => {
    if (channel === channels.stdin) stdin?.deliver(data);
    if (channel === channels.close && data[0] === channels.stdin) stdin?.deliver(undefined);
    if (channel === channels.resize) {
      sizes.push(data.toString());
      sizes.flush();
    }
  });
  const gone = new AbortController();
  void socket.closed.then(() => {
    sizes.end();
    gone.abort();
  });
  // The client waits for a first message as the sign that it is connected.
  if (stdout) socket.send(channels.stdout, '');
  else if (stderr) socket.send(channels.stderr, '');
  else socket.send(channels.error, '');
  return {
    streams: { stdin, stdout, stderr, sizes },
    gone: gone.signal,
    async finish(outcome) {
      const outputs = [stdout, stderr].filter((stream) => stream !== undefined);
      for (const output of outputs) output.end();
      await Promise.allSettled(outputs.map((stream) => finished(stream, { readable: false })));
      const text = protocol.status ? outcomeStatus(outcome) : outcomeText(outcome);
      socket.send(channels.error, text);
      // Input that still arrives is dropped, so that the client's close message is read.
      stdin?.destroy();
      await socket.close();
    },
  };
}
