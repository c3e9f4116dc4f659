/** Text that another program writes to standard input. */
import { isUtf8 } from 'node:buffer';
import { maxInputBytes, tooLongInput } from '../../os/bounded-file.ts';

/** Resolves to the whole input. Rejects if it is not UTF-8, and as soon as it has more than 64 MiB. */
export async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > maxInputBytes) throw tooLongInput('standard input');
    chunks.push(chunk);
  }
  const all = Buffer.concat(chunks);
  if (!isUtf8(all)) throw new Error('standard input is binary or not UTF-8: expected YAML or JSON');
  return all.toString('utf8');
}
