/** Text that a server sends, printed as it comes. */
import type { Io } from './io.ts';

export async function printBody({ out }: Pick<Io, 'out'>, body: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of body) out(decoder.decode(chunk, { stream: true }));
}
