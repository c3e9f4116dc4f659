/** Text that another program writes to standard input. */
import { isUtf8 } from 'node:buffer';

/** Maximum number of bytes, far above all manifests of a cluster: a program may write without end. */
const maxBytes = 64 * 1024 * 1024;

/** Rejects when the input is not UTF-8, and as soon as it has more than 64 MiB. */
export async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('standard input has more than 64 MiB: write it in parts');
    chunks.push(chunk);
  }
  const all = Buffer.concat(chunks);
  if (!isUtf8(all)) throw new Error('standard input is binary or not UTF-8: expected YAML or JSON');
  return all.toString('utf8');
}
