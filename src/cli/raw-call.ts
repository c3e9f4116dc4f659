/** `--raw`: sends a file, or standard input, to a path of the API, and prints the answer unchanged. */
import { UsageError } from '../base/usage-error.ts';
import { readBounded } from '../os/bounded-file.ts';
import type { Flags } from './flags/flags.ts';
import { printBody } from './print-body.ts';
import type { VerbContext } from './verb.ts';

/**
 * Returns the path of --raw. Throws UsageError for an invalid path, and for flags that cannot be combined
 * with --raw: `excluded` are flags of the verb that a raw request would ignore.
 */
export function rawPath(flags: Flags, excluded: readonly string[]): string {
  const path = flags.text('raw') ?? '';
  const [file, ...more] = flags.texts('filename').flatMap((text) => text.split(','));
  if (more.length > 0) throw new UsageError('--raw can only use a single local file or stdin');
  if (file && /^https?:\/\//.test(file)) throw new UsageError('--raw cannot read from a url');
  if (flags.words.length > 0) throw new UsageError('arguments may not be passed when --raw is specified');
  const refused = ['recursive', 'output', ...excluded].find((name) => flags.given(name));
  if (refused !== undefined) throw new UsageError(`--raw and --${refused} are mutually exclusive`);
  if (!/^\/[\x21-\x7e]*$/.test(path))
    throw new UsageError(
      `--raw must be a valid URL path such as /api/v1/namespaces, got ${JSON.stringify(path)}`,
    );
  return path;
}

/** Sends the file of -f, or nothing without one, and prints the answer. */
export async function callRaw(
  { io, flags, cluster }: VerbContext,
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
): Promise<void> {
  const file = flags.text('filename');
  const body =
    file === undefined
      ? undefined
      : file === '-'
        ? await io.readStdin()
        : await readBounded(file, { signal: io.signal });
  const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
  const response = await cluster().open({ method, path, headers, ...(body !== undefined && { body }) });
  await printBody(io, response.body);
}
