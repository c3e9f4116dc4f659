/** Prints text from a server as it arrives. */
import type { Io } from './io.ts';

export async function printBody(
  io: Pick<Io, 'out' | 'room'>,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    io.out(decoder.decode(chunk, { stream: true }));
    await io.room?.();
  }
}
